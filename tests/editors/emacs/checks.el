;;; checks.el --- the modes of editor-clients/emacs in a real Emacs, without a screen  -*- lexical-binding: t -*-

;;; Commentary:
;;   HLO_ANALYZER=…/hlo-analyzer emacs -q --batch -l tests/editors/emacs/checks.el

;;; Code:

(defvar checks-here (file-name-directory (or load-file-name buffer-file-name)))
(add-to-list 'load-path (expand-file-name "../../../editor-clients/emacs" checks-here))
(require 'hlo-analyzer)
(setq hlo-analyzer-command (list (or (getenv "HLO_ANALYZER") "hlo-analyzer"))
      hlo-analyzer-settings '(:ptxas (:enable :json-false))
      eglot-sync-connect 20
      eglot-autoshutdown nil)

(defvar checks-failed 0)

(defmacro check (name &rest body)
  "Run BODY, which signals an error where NAME does not hold."
  (declare (indent 1))
  `(condition-case why
       (progn ,@body (message "  ok      %s" ,name))
     (error (setq checks-failed (1+ checks-failed))
            (message "  FAILED  %s\n%S" ,name why))))

(defun checks-open (fixture extension)
  "Open a copy of FIXTURE, with a server."
  (let ((file (make-temp-file "checks" nil extension)))
    (copy-file (expand-file-name (concat "../fixtures/" fixture) checks-here) file t)
    (find-file file)
    (apply #'eglot--connect (eglot--guess-contact))
    (goto-char (point-min))))

(defun checks-hover ()
  "What the server says of point."
  (let ((hover (jsonrpc-request (eglot--current-server-or-lose) :textDocument/hover
                                (eglot--TextDocumentPositionParams))))
    (or (plist-get (plist-get hover :contents) :value) (format "%S" hover))))

(defun checks-kernel ()
  "The texts of the kernel at point."
  (mapconcat (lambda (tab)
               (let ((path (plist-get tab :path)))
                 (if path (with-temp-buffer (insert-file-contents path) (buffer-string))
                   (plist-get tab :text))))
             (plist-get (hlo-analyzer-show-kernel) :tabs) "\n"))

(defun checks-has (needle text)
  "Signal an error where TEXT is without NEEDLE."
  (unless (string-match-p (regexp-quote needle) text)
    (error "No %s in %s" needle text)))

(check "HLO has maps and kernels"
  (checks-open "transpose_and_reduce.hlo" ".hlo")
  (unless (eq major-mode 'hlo-mode) (error "It is %s" major-mode))
  (search-forward "%input_transpose_fusion =")
  (backward-char 5)
  (checks-has "thread →" (checks-hover))
  (let ((kernel (checks-kernel)))
    (checks-has "func.func @input_transpose_fusion" kernel)
    (checks-has ".visible .entry" kernel)))

(check "MLIR has maps, kernels and HLO"
  (checks-open "tiled_slice.mlir" ".mlir")
  (unless (eq major-mode 'mlir-mode) (error "It is %s" major-mode))
  (search-forward "stablehlo.tr")
  (checks-has "(d0, d1) -> (d1, d0)" (checks-hover))
  (checks-has ".visible .entry" (checks-kernel))
  (let ((answer (hlo-analyzer-convert)))
    (checks-has "transpose(" (plist-get answer :text))))

(kill-emacs (if (= checks-failed 0) 0 1))
;;; checks.el ends here
