;;; hlo-analyzer.el --- XLA HLO with eglot  -*- lexical-binding: t -*-

;;; Commentary:
;; A mode for HLO and the server for it; needs Emacs 29 or newer.

;;; Code:

(require 'eglot)

(defgroup hlo-analyzer nil "XLA HLO." :group 'languages)

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

(add-to-list 'eglot-server-programs
             `(hlo-mode . ,(lambda (&rest _)
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

(provide 'hlo-analyzer)
;;; hlo-analyzer.el ends here
