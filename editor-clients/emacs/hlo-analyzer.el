;;; hlo-analyzer.el --- XLA HLO and MLIR with eglot  -*- lexical-binding: t -*-

;;; Commentary:
;; Modes for HLO and MLIR and the server for them; needs Emacs 29 or newer.

;;; Code:

(require 'eglot)

(defgroup hlo-analyzer nil "XLA HLO and MLIR." :group 'languages)

(defcustom hlo-analyzer-command '("hlo-analyzer")
  "The server with its arguments."
  :type '(repeat string))

(defcustom hlo-analyzer-settings nil
  "Settings as a property list, like (:gpu (:device \"a100-sxm-80\"))."
  :type 'plist)

;;;###autoload
(define-derived-mode hlo-mode prog-mode "HLO"
  "For modules of XLA."
  (setq-local comment-start "// "))

;;;###autoload
(dolist (name '("\\.hlo\\'" "\\(before\\|after\\)_optimizations\\.txt\\'"))
  (add-to-list 'auto-mode-alist (cons name 'hlo-mode)))

;; LLVM has a mode of that name, with colours: where it is loaded, it stays.
(unless (fboundp 'mlir-mode)
  (define-derived-mode mlir-mode prog-mode "MLIR"
    "For modules of MLIR, of any dialect."
    (setq-local comment-start "// "))
  (add-to-list 'auto-mode-alist '("\\.mlir\\'" . mlir-mode)))

(add-to-list 'eglot-server-programs
             `((hlo-mode mlir-mode) . ,(lambda (&rest _)
                             (append hlo-analyzer-command
                                     (list :initializationOptions hlo-analyzer-settings)))))

(defun hlo-analyzer-show-kernel ()
  "Show the kernel of the instruction at point, as MLIR and as PTX."
  (interactive)
  (let* ((here (eglot--TextDocumentPositionParams))
         (answer (jsonrpc-request (eglot--current-server-or-lose) :workspace/executeCommand
                                  (list :command "hlo-analyzer.openKernel"
                                        :arguments (vector (plist-get (plist-get here :textDocument) :uri)
                                                           (plist-get here :position))))))
    (if (null answer)
        (message "There is no kernel at this place.")
      ;; From the last to the first, which stays in front.
      (seq-doseq (tab (reverse (plist-get answer :tabs)))
        (let ((path (plist-get tab :path)))
          (with-current-buffer
              (if path (find-file-noselect path)
                (get-buffer-create (format "*%s %s*" (plist-get answer :instruction) (plist-get tab :title))))
            (unless path
              (let ((inhibit-read-only t))
                (erase-buffer)
                (insert (plist-get tab :text))
                (goto-char (point-min))))
            (setq buffer-read-only t)
            ;; The server writes the file anew when the HLO changes.
            (when path (auto-revert-mode 1))
            (display-buffer (current-buffer))))))
    answer))

(defun hlo-analyzer-convert ()
  "Show the module in the other language: HLO as StableHLO, StableHLO as HLO."
  (interactive)
  (let* ((answer (jsonrpc-request (eglot--current-server-or-lose) :hlo-analyzer/convert
                                  (list :textDocument (eglot--TextDocumentIdentifier))))
         (language (plist-get answer :language)))
    (with-current-buffer (generate-new-buffer (format "*%s*" language))
      (insert (plist-get answer :text))
      (goto-char (point-min))
      (funcall (if (equal language "hlo") #'hlo-mode #'mlir-mode))
      (set-buffer-modified-p nil)
      (display-buffer (current-buffer)))
    answer))

(provide 'hlo-analyzer)
;;; hlo-analyzer.el ends here
