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

(defun checks-faces ()
  "The faces of this buffer."
  (font-lock-ensure)
  (let (faces)
    (dotimes (at (buffer-size))
      (let ((face (get-text-property (1+ at) 'face)))
        (when face (cl-pushnew (if (consp face) (car face) face) faces))))
    faces))

(check "every kind of text has colours, and dumps are known by their names"
  (dolist (kind '((hlo-mode "%a = f32[2]{0} add(%b, %c), metadata={op_name=\"x\"} // why\nROOT"
                            font-lock-function-name-face font-lock-property-name-face font-lock-variable-name-face
                            font-lock-type-face font-lock-string-face font-lock-comment-face font-lock-keyword-face)
                  (mlir-mode "%a = arith.addf %b, %c : tensor<4x8xf32> // why\ncall @f"
                             font-lock-function-name-face font-lock-variable-name-face font-lock-type-face
                             font-lock-constant-face font-lock-comment-face font-lock-keyword-face)
                  (ptx-mode "\tadd.s32 %r1, %r2, 4; // why\n.reg"
                            font-lock-function-name-face font-lock-variable-name-face font-lock-constant-face
                            font-lock-comment-face font-lock-keyword-face)))
    (with-temp-buffer
      (insert (nth 1 kind))
      (funcall (car kind))
      (let ((faces (checks-faces)))
        (dolist (face (nthcdr 2 kind))
          (unless (memq face faces) (error "%s has no %s: %S" (car kind) face faces))))))
  (dolist (name '(("m/module_0001.jit_f.sm_9.0_gpu_after_optimizations.txt" . hlo-mode)
                  ("m/module_0001.jit_f.before_optimizations.txt" . hlo-mode)
                  ("m/module_0002.jit_f.0007.fusion.after_priority-fusion.before_layout.txt" . hlo-mode)
                  ("m/module_0001.jit_f.gpu_after_optimizations-buffer-assignment.txt" . text-mode)
                  ("m/f.ptx" . ptx-mode)))
    (let ((mode (assoc-default (car name) auto-mode-alist #'string-match)))
      (unless (eq mode (cdr name)) (error "%s is %s" (car name) mode)))))

(check "kernels are listed, accesses drawn, values computed, devices chosen, warnings disabled"
  (checks-open "transposed_read.hlo" ".hlo")
  (search-forward "%add_fusion =")
  (backward-char 5)
  (checks-has "sectors" (plist-get (hlo-analyzer-access-pattern) :text))
  (unless (= 2 (length (plist-get (hlo-analyzer-heaviest-kernels) :kernels))) (error "Not two kernels"))
  (with-current-buffer "*heaviest kernels*"
    (goto-char (point-min))
    (checks-has "%add_fusion" (buffer-substring (line-beginning-position) (line-end-position)))
    (tabulated-list-sort 1)
    (goto-char (point-min))
    (checks-has "%scale_fusion" (buffer-substring (line-beginning-position) (line-end-position))))
  (hlo-analyzer-select-device "a100-sxm-80")
  (hlo-analyzer-disable-warning "uncoalesced")
  (let ((status (hlo-analyzer-status)))
    (checks-has "a100-sxm-80" (plist-get status :device))
    (checks-has "uncoalesced" (format "%S" (plist-get status :disabled_warnings))))
  (checks-open "tiled_slice.mlir" ".mlir")
  (search-forward "stablehlo.add")
  (checks-has "\n2  4\n" (plist-get (hlo-analyzer-evaluate '("{1, 2}")) :text))
  (checks-has "\n0  2\n" (plist-get (hlo-analyzer-evaluate "iota") :text)))

(check "without a server a command says so"
  (with-temp-buffer
    (condition-case why
        (progn (hlo-analyzer-heaviest-kernels) (error "It said nothing"))
      (user-error (checks-has "is not running" (cadr why))))))

(check "MLIR has maps, kernels and HLO"
  (checks-open "tiled_slice.mlir" ".mlir")
  (unless (eq major-mode 'mlir-mode) (error "It is %s" major-mode))
  (search-forward "stablehlo.tr")
  (checks-has "(d0, d1) -> (d1, d0)" (checks-hover))
  (checks-has ".visible .entry" (checks-kernel))
  (let ((answer (hlo-analyzer-convert)))
    (checks-has "transpose(" (plist-get answer :text))))

(check "a dump folder has compiles, passes and diffs"
  (find-file (car (file-expand-wildcards
                   (expand-file-name "../../../server/test-files/dump/*0005.fusion.after_priority-fusion*" checks-here))))
  (hlo-mode)
  (apply #'eglot--connect (eglot--guess-contact))
  (let ((fused (current-buffer)))
    (cl-letf (((symbol-function 'completing-read)
               (lambda (_prompt table &rest _)
                 (seq-find (lambda (label) (string-search "layout-assignment" label)) (all-completions "" table)))))
      (checks-has "0001.layout_assignment" (plist-get (hlo-analyzer-compiles) :uri)))
    (switch-to-buffer fused)
    (goto-char (point-min))
    (search-forward "%gemm_fusion_dot =")
    (backward-char 4)
    (let ((found (hlo-analyzer-instruction-passes t)))
      (checks-has "gemm_fusion_dot" (plist-get found :instruction)))
    (switch-to-buffer fused)
    (let ((buffers (hlo-analyzer-compare-pass)))
      (checks-has " fusion(" (with-current-buffer (cadr buffers) (buffer-string))))))

(kill-emacs (if (= checks-failed 0) 0 1))
;;; checks.el ends here
