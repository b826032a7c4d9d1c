;;; checks.el --- the modes of editor-clients/emacs in a real Emacs, without a screen  -*- lexical-binding: t -*-

;;; Commentary:
;;   HLO_ANALYZER=…/hlo-analyzer emacs -q --batch -l tests/editors/emacs/checks.el
;;
;; With LSP_MODE set, the server runs under lsp-mode instead of eglot.

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

;; The same checks run under both clients.
(defvar checks-with-lsp-mode (getenv "LSP_MODE"))
(when checks-with-lsp-mode
  (require 'package)
  (package-initialize)
  (require 'lsp-mode)
  (setq lsp-auto-guess-root t
        lsp-enable-suggest-server-download nil
        lsp-enable-snippet nil
        lsp-session-file (make-temp-file "session")))

(defun checks-connect ()
  "Start a server for this buffer, or use the one that runs."
  (if (not checks-with-lsp-mode)
      (unless (eglot-current-server) (apply #'eglot--connect (eglot--guess-contact)))
    (lsp-workspace-folders-add (file-name-directory buffer-file-name))
    (lsp)
    (with-timeout (20 (error "No server"))
      (while (not (and (lsp-workspaces) (eq 'initialized (lsp--workspace-status (car (lsp-workspaces))))))
        (accept-process-output nil 0.05)))))

(defun checks-go (kind)
  "Go to the first place that the server gives as KIND of what is at point."
  (let* ((found (hlo-analyzer--request (concat "textDocument/" kind) (hlo-analyzer--place)))
         (place (if (or (vectorp found) (consp (car-safe found))) (seq-first found) found)))
    (unless place (error "No %s" kind))
    (hlo-analyzer--go (list :uri (or (plist-get place :uri) (plist-get place :targetUri))
                            :range (or (plist-get place :range) (plist-get place :targetSelectionRange))))))

(defun checks-open (fixture extension)
  "Open a copy of FIXTURE, with a server."
  (let ((file (make-temp-file "checks" nil extension)))
    (copy-file (expand-file-name (concat "../fixtures/" fixture) checks-here) file t)
    (find-file file)
    (checks-connect)
    (goto-char (point-min))))

(defun checks-hover ()
  "What the server says of point."
  (let ((hover (hlo-analyzer--request "textDocument/hover" (hlo-analyzer--place))))
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

;;; Compiles

(defun checks-dump (part)
  "Visit the stage of the fixture dump whose name has PART, with a server."
  (find-file (car (file-expand-wildcards
                   (expand-file-name (format "../../../server/test-files/dump/*%s*" part) checks-here))))
  (hlo-mode)
  (checks-connect)
  (goto-char (point-min)))

(defun checks-find (text)
  "Go to the first character of TEXT."
  (goto-char (point-min))
  (search-forward text)
  (goto-char (match-beginning 0)))

(defun checks-file (part)
  "Signal an error if the file of this buffer is without PART."
  (checks-has part (or buffer-file-name "")))

(defmacro checks-choosing (part &rest body)
  "Run BODY with a user who picks what has PART."
  (declare (indent 1))
  `(cl-letf (((symbol-function 'completing-read)
              (lambda (_prompt table &rest _)
                (seq-find (lambda (label) (string-search ,part label)) (all-completions "" table)))))
     ,@body))

(check "a pass is picked among those of a compile, each with what it changed"
  (checks-dump "0005.fusion.after_priority-fusion")
  (checks-choosing "fusion: priority-fusion (7 of 8)  +8 instructions"
    (checks-has "0005.fusion" (plist-get (hlo-analyzer-compiles) :uri)))
  (checks-choosing "layout-assignment" (hlo-analyzer-compiles))
  (checks-file "0001.layout_assignment"))

(check "the next and the previous pass stay on the instruction"
  (checks-dump "0005.fusion.after_priority-fusion")
  (checks-find "%gemm_fusion_dot =")
  (hlo-analyzer-previous-pass)
  (checks-file "0004.fusion")
  (checks-has "%gemm_fusion_dot =" (thing-at-point 'line))
  (checks-connect)
  (hlo-analyzer-next-pass)
  (checks-file "0005.fusion")
  (checks-has "%gemm_fusion_dot =" (thing-at-point 'line))
  (checks-dump "before_optimizations")
  (condition-case why
      (progn (hlo-analyzer-previous-pass) (error "There is one"))
    (user-error (checks-has "no previous pass" (cadr why)))))

(check "the passes that changed an instruction are listed"
  (checks-dump "0005.fusion.after_priority-fusion")
  (checks-find "%gemm_fusion_dot =")
  (checks-choosing "stage 4 of 8: splitk-rewriter"
    (checks-has "gemm_fusion_dot" (plist-get (hlo-analyzer-instruction-passes) :instruction)))
  (checks-file "0002.hlo_normalization"))

(check "a pass is compared with the one before in Ediff"
  (checks-dump "0005.fusion.after_priority-fusion")
  (let ((buffers (hlo-analyzer-compare-pass)))
    (checks-has " fusion(" (with-current-buffer (cadr buffers) (buffer-string)))
    (with-current-buffer (car buffers)
      (when (string-search "metadata=" (buffer-string)) (error "Metadata differ"))
      (with-current-buffer (car ediff-this-buffer-ediff-sessions)
        (unless (and (> ediff-number-of-differences 0) (= ediff-current-difference 0))
          (error "Not at the first of %d differences" ediff-number-of-differences))))))

(check "a module is compiled by the Python that the settings name, and what is missing is said"
  (checks-dump "before_optimizations")
  (condition-case why
      (progn (hlo-analyzer-compile-with-xla) (error "There is a Python"))
    (user-error (checks-has "no Python is set" (cadr why))))
  ;; In place of Python, a program that writes what XLA would write.
  (let ((python (make-temp-file "python" nil nil
                                (format "#!/bin/sh\ncp %smodule_* \"$5\"\n" (file-name-directory buffer-file-name)))))
    (set-file-modes python #o700)
    (hlo-analyzer--configure (list :xla (list :python python) :workspace '(:trusted t)))
    (hlo-analyzer-compile-with-xla)
    (checks-file "hlo-analyzer/compiles/module_0001.jit_step.before_optimizations-")
    (checks-file "after_optimizations")
    (delete-directory (file-name-directory buffer-file-name) t)
    (checks-dump "before_optimizations")
    (hlo-analyzer--configure '(:xla (:python "") :workspace (:trusted :json-false)))))

(check "hover tells where a fusion comes from; declaration and implementation go there and back"
  (checks-dump "gpu_after_optimizations.txt")
  (checks-find "%gemm_fusion_dot =")
  (let ((hover ""))
    (with-timeout (20 (error "No origin in %s" hover))
      (while (not (string-search "before optimizations:" (setq hover (checks-hover))))
        (sleep-for 0.1)))
    (checks-has "triton-gemm-rewriter" hover))
  (checks-go "declaration")
  (checks-file "before_optimizations")
  (checks-has "%dot_general.1 =" (thing-at-point 'line))
  (checks-connect)
  (checks-go "declaration")
  (checks-file "jax_ir0001_jit_step_compile.mlir")
  (checks-has "stablehlo.dot_general" (thing-at-point 'line))
  (checks-connect)
  (checks-go "definition")
  (checks-file "layer.py")
  (checks-dump "before_optimizations")
  (checks-find "%tanh.1 =")
  (checks-go "implementation")
  (checks-file "gpu_after_optimizations")
  (checks-has "%loop_tanh_fusion =" (thing-at-point 'line)))

(kill-emacs (if (= checks-failed 0) 0 1))
;;; checks.el ends here
