;;; hlo-analyzer-modes.el --- HLO, MLIR and PTX  -*- lexical-binding: t -*-

;;; Commentary:
;; Major modes with colours, which need no server.

;;; Code:

(defconst hlo-analyzer--number "\\_<-?[0-9]+\\(?:\\.[0-9]+\\)?\\(?:[eE][+-]?[0-9]+\\)?\\_>")

(defconst hlo-analyzer--hlo-colours
  `((,(regexp-opt '("HloModule" "ENTRY" "ROOT") 'symbols) . font-lock-keyword-face)
    ("\\_<\\(?:pred\\|token\\|opaque\\|bf16\\|c64\\|c128\\|[suf][0-9]+\\(?:e[0-9]+m[0-9]+[a-z0-9]*\\)?\\)\\_>" . font-lock-type-face)
    ("\\_<\\([a-z][a-z0-9-]*\\)(" 1 font-lock-function-name-face)
    ("\\_<\\([a-z_][a-z0-9_]*\\)=[^[:space:]]" 1 'font-lock-property-name-face)
    ("%[A-Za-z0-9_.-]+" . font-lock-variable-name-face)
    (,(regexp-opt '("true" "false" "inf" "nan") 'symbols) . font-lock-constant-face)
    (,hlo-analyzer--number . font-lock-constant-face)))

(defconst hlo-analyzer--mlir-colours
  `((,(regexp-opt '("module" "return" "call" "private" "public" "attributes" "loc" "dense" "unit") 'symbols)
     . font-lock-keyword-face)
    ("\\(?:[0-9]+x\\|\\?x\\)+" . font-lock-constant-face)
    ("\\(?:\\_<\\|x\\)\\(tensor\\|memref\\|vector\\|tuple\\|complex\\|index\\|none\\|bf16\\|tf32\\|[su]?i[0-9]+\\|f[0-9]+\\(?:E[0-9]+M[0-9]+[A-Z]*\\)?\\)\\_>"
     1 font-lock-type-face)
    ("\\_<[A-Za-z_][A-Za-z0-9_$]*\\(?:\\.[A-Za-z_][A-Za-z0-9_$]*\\)+" . font-lock-function-name-face)
    ("%[A-Za-z0-9_$.-]+\\(?:#[0-9]+\\)?" . font-lock-variable-name-face)
    ("@[A-Za-z_][A-Za-z0-9_$.]*" . font-lock-function-name-face)
    ("[#!][A-Za-z_][A-Za-z0-9_$.]*" . font-lock-constant-face)
    ("\\^[A-Za-z0-9_$.-]+" . font-lock-keyword-face)
    (,(regexp-opt '("true" "false") 'symbols) . font-lock-constant-face)
    (,hlo-analyzer--number . font-lock-constant-face)))

(defconst hlo-analyzer--ptx-colours
  `(("\\_<[a-z][a-z0-9]*\\(?:\\.[A-Za-z0-9_:]+\\)+" . font-lock-function-name-face)
    (,(regexp-opt '("ret" "exit" "bra" "call" "trap") 'symbols) . font-lock-function-name-face)
    ("\\(?:^\\|[[:space:](]\\)\\(\\.[A-Za-z_][A-Za-z0-9_]*\\)" 1 font-lock-keyword-face)
    ("%[A-Za-z0-9_.]+" . font-lock-variable-name-face)
    ("\\$[A-Za-z0-9_$]+" . font-lock-constant-face)
    ("\\_<0[fFdDx][0-9a-fA-F]+U?\\_>" . font-lock-constant-face)
    (,hlo-analyzer--number . font-lock-constant-face)))

(defun hlo-analyzer--syntax (has-block-comments)
  "Return a syntax table with strings and `//' comments.
With HAS-BLOCK-COMMENTS, `/*' opens a comment too."
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?% "'" table)
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?. "_" table)
    (dolist (sign '(?< ?> ?= ?+ ?* ?& ?|)) (modify-syntax-entry sign "." table))
    (modify-syntax-entry ?/ (if has-block-comments ". 124b" ". 12b") table)
    (when has-block-comments (modify-syntax-entry ?* ". 23" table))
    (modify-syntax-entry ?\n "> b" table)
    table))

(defun hlo-analyzer--set-up (colours)
  "Set up what all modes have in common, with COLOURS."
  (setq-local comment-start "// ")
  (setq-local comment-end "")
  (setq-local font-lock-defaults (list colours)))

;;;###autoload
(define-derived-mode hlo-mode prog-mode "HLO"
  "Major mode for XLA HLO modules."
  :syntax-table (hlo-analyzer--syntax t)
  (hlo-analyzer--set-up hlo-analyzer--hlo-colours))

;;;###autoload
(dolist (name '("\\.hlo\\'" "\\(before\\|after\\)_optimizations\\.txt\\'"
                "module_[^/]*\\.after_[^/]*\\.before_[^/]*\\.txt\\'"))
  (add-to-list 'auto-mode-alist (cons name 'hlo-mode)))

;; LLVM's mode of the same name, which has its own colours, takes precedence if it is loaded.
(unless (fboundp 'mlir-mode)
  (define-derived-mode mlir-mode prog-mode "MLIR"
    "Major mode for MLIR modules of any dialect."
    :syntax-table (hlo-analyzer--syntax nil)
    (hlo-analyzer--set-up hlo-analyzer--mlir-colours))
  (add-to-list 'auto-mode-alist '("\\.mlir\\'" . mlir-mode)))

;;;###autoload
(define-derived-mode ptx-mode prog-mode "PTX"
  "Major mode for the PTX of kernels."
  :syntax-table (hlo-analyzer--syntax t)
  (hlo-analyzer--set-up hlo-analyzer--ptx-colours))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.ptx\\'" . ptx-mode))

(provide 'hlo-analyzer-modes)
;;; hlo-analyzer-modes.el ends here
