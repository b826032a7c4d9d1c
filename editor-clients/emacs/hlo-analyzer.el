;;; hlo-analyzer.el --- XLA HLO and MLIR with eglot or lsp-mode  -*- lexical-binding: t -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "29.1"))
;; Keywords: languages, tools
;; URL: https://github.com/hlo-analyzer/hlo-analyzer

;;; Commentary:
;; Major modes for HLO, MLIR and PTX, and the language server for HLO and MLIR.
;; Needs Emacs 29 or newer.

;;; Code:

(require 'tabulated-list)
(require 'hlo-analyzer-modes)
(require 'hlo-analyzer-client)
(require 'hlo-analyzer-compiles)

(defun hlo-analyzer--show (name text mode)
  "Show TEXT in a read-only buffer called NAME, in MODE."
  (with-current-buffer (get-buffer-create name)
    (let ((inhibit-read-only t))
      (erase-buffer)
      (insert text)
      (goto-char (point-min)))
    (funcall mode)
    (set-buffer-modified-p nil)
    (setq buffer-read-only t)
    (display-buffer (current-buffer))
    (current-buffer)))

(defun hlo-analyzer-show-kernel ()
  "Show the kernel of the instruction at point, as MLIR and as PTX."
  (interactive)
  (let* ((here (hlo-analyzer--place))
         (answer (hlo-analyzer--execute "openKernel" (plist-get (plist-get here :textDocument) :uri)
                                        (plist-get here :position))))
    (if (null answer)
        (message "There is no kernel at this place.")
      ;; Last tab first, so that the first one ends up in front.
      (seq-doseq (tab (reverse (plist-get answer :tabs)))
        (let ((path (plist-get tab :path)))
          (with-current-buffer
              (if path (find-file-noselect path)
                (get-buffer-create (format "*%s %s*" (plist-get answer :instruction) (plist-get tab :title))))
            (unless path
              (let ((inhibit-read-only t))
                (erase-buffer)
                (insert (plist-get tab :text))
                (goto-char (point-min)))
              (pcase (plist-get tab :tab)
                ((or "mlir" "passes") (mlir-mode))
                ("ptx" (ptx-mode))))
            (setq buffer-read-only t)
            ;; The server rewrites the file when the HLO changes.
            (when path (auto-revert-mode 1))
            (display-buffer (current-buffer))))))
    answer))

(defun hlo-analyzer-convert ()
  "Show the module in the other language: HLO as StableHLO, or StableHLO as HLO."
  (interactive)
  (let* ((answer (hlo-analyzer--ask "convert" (list :textDocument (hlo-analyzer--document))))
         (language (plist-get answer :language)))
    (with-current-buffer (generate-new-buffer (format "*%s*" language))
      (insert (plist-get answer :text))
      (goto-char (point-min))
      (funcall (if (equal language "hlo") #'hlo-mode #'mlir-mode))
      (set-buffer-modified-p nil)
      (display-buffer (current-buffer)))
    answer))

(defvar hlo-analyzer--last-values "zeros" "The choice of parameter values in the last evaluation.")

(defun hlo-analyzer--typed (parameters)
  "Ask the user for literals of PARAMETERS; return them by number."
  (let (typed)
    (dolist (parameter parameters (nreverse typed))
      (while (< (length typed) (plist-get parameter :number)) (push "" typed))
      (push (read-string (format "%%%s: %s = " (plist-get parameter :name) (plist-get parameter :shape))
                         (plist-get parameter :sample))
            typed))))

(defun hlo-analyzer-evaluate (&optional given)
  "Show the value of the instruction at point.
GIVEN are the values of its parameters: literals by number, or one of
\"zeros\", \"random\" and \"iota\".  Without it the user is asked."
  (interactive)
  (let* ((here (append (hlo-analyzer--place) (list :summary t)))
         (asked (or (hlo-analyzer--ask "evaluate" here) (user-error "There is no instruction at this place")))
         (parameters (append (plist-get asked :parameters) nil))
         (by-hand "values written by hand")
         (values (cond ((null parameters) nil)
                       (given given)
                       (t (setq hlo-analyzer--last-values
                                (completing-read "The parameters hold: " (list by-hand "zeros" "random" "iota") nil t nil
                                                 nil hlo-analyzer--last-values)))))
         (values (if (equal values by-hand) (hlo-analyzer--typed parameters) values))
         (answer (cond ((null values) asked)
                       ((stringp values) (hlo-analyzer--ask "evaluate" (append here (list :fill values))))
                       (t (hlo-analyzer--ask "evaluate" (append here (list :inputs (vconcat values)))))))
         (text (plist-get answer :text)))
    (if (null text)
        (message "%%%s: %s" (plist-get answer :instruction) (plist-get answer :reason))
      (hlo-analyzer--show (format "*%%%s*" (plist-get answer :instruction)) text #'text-mode))
    answer))

(defun hlo-analyzer-access-pattern ()
  "Show the lanes of a warp on memory, for the kernel at point."
  (interactive)
  (let ((pattern (hlo-analyzer--ask "accessPattern" (hlo-analyzer--place))))
    (if (null pattern)
        (message "No kernel with known accesses at this place.")
      (hlo-analyzer--show "*access pattern*" (concat (plist-get pattern :text) (plist-get pattern :summary)) #'special-mode))
    pattern))

(defvar-local hlo-analyzer--module nil "The buffer of the module whose kernels are listed.")

(define-derived-mode hlo-kernels-mode tabulated-list-mode "Kernels"
  "Major mode for the kernels of a module.
A click on a heading sorts by it, RET goes to a kernel."
  (setq tabulated-list-format
        ;; 80 columns.
        [("Kernel" 33 t) ("µs" 11 hlo-analyzer--less :right-align t) ("%" 6 hlo-analyzer--less :right-align t)
         ("Bytes needed" 15 hlo-analyzer--less :right-align t) ("Bound by" 9 t)]
        tabulated-list-sort-key '("µs" . t))
  (tabulated-list-init-header))

(defun hlo-analyzer--less (a b)
  "Return non-nil if entry A has a smaller number than B in the sort column."
  (let ((column (seq-position (mapcar #'car (append tabulated-list-format nil)) (car tabulated-list-sort-key))))
    (< (string-to-number (aref (cadr a) column)) (string-to-number (aref (cadr b) column)))))

(defun hlo-analyzer-go-to-kernel ()
  "Go to the kernel on this line."
  (interactive)
  (let ((start (plist-get (tabulated-list-get-id) :start)))
    (pop-to-buffer hlo-analyzer--module)
    (goto-char (point-min))
    (forward-line (plist-get start :line))
    (forward-char (plist-get start :character))))

(define-key hlo-kernels-mode-map (kbd "RET") #'hlo-analyzer-go-to-kernel)

(defun hlo-analyzer-heaviest-kernels ()
  "List the kernels of the module, sorted by time."
  (interactive)
  (let* ((answer (hlo-analyzer--ask "heaviestKernels" (list :textDocument (hlo-analyzer--document) :limit 1000)))
         (module (current-buffer))
         (entries (mapcar (lambda (kernel)
                            (list (plist-get kernel :at)
                                  (vector (concat "%" (plist-get kernel :name))
                                          (format "%.2f" (plist-get kernel :total_us))
                                          (format "%.1f" (* 100 (plist-get kernel :share)))
                                          (format "%d" (* (plist-get kernel :executions)
                                                          (plist-get kernel :bytes_needed)))
                                          (plist-get kernel :bound))))
                          (plist-get answer :kernels))))
    (if (null entries)
        (message "No kernels: this module is not compiled for a GPU.")
      (with-current-buffer (get-buffer-create "*heaviest kernels*")
        (hlo-kernels-mode)
        (setq hlo-analyzer--module module
              tabulated-list-entries entries)
        (tabulated-list-print)
        (display-buffer (current-buffer))))
    answer))

(defun hlo-analyzer--configure (settings)
  "Send SETTINGS to the running server."
  (hlo-analyzer--notify "workspace/didChangeConfiguration" (list :settings (list :hlo-analyzer settings))))

(defun hlo-analyzer-status ()
  "Show the version, device and memory usage of the server."
  (interactive)
  (let ((status (hlo-analyzer--ask "status" (make-hash-table))))
    (message "hlo-analyzer %s, %s%s" (plist-get status :version) (plist-get status :device)
             (if (plist-get status :memory) (format ", %d MB" (/ (plist-get status :memory) 1000000)) ""))
    status))

(defun hlo-analyzer-select-device (name)
  "Select the GPU called NAME for the analysis of kernels, until the server ends."
  (interactive
   (list (completing-read "GPU: " (mapcar (lambda (device) (plist-get device :name))
                                          (plist-get (hlo-analyzer--ask "status" (make-hash-table)) :devices)))))
  (hlo-analyzer--configure (list :gpu (list :device name))))

(defun hlo-analyzer-disable-warning (code)
  "Disable the warning CODE until the server ends.
To disable it permanently, use `hlo-analyzer-settings'."
  (interactive "sCode: ")
  (hlo-analyzer--execute "disableWarning" code))

(provide 'hlo-analyzer)
;;; hlo-analyzer.el ends here
