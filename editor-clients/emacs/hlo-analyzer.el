;;; hlo-analyzer.el --- XLA HLO and MLIR with eglot  -*- lexical-binding: t -*-

;;; Commentary:
;; Major modes for HLO, MLIR and PTX, and the language server for HLO and MLIR.
;; Needs Emacs 29 or newer.

;;; Code:

(require 'eglot)
(require 'tabulated-list)

(defgroup hlo-analyzer nil "XLA HLO and MLIR." :group 'languages)

(defcustom hlo-analyzer-command '("hlo-analyzer")
  "The command that starts the server, with its arguments."
  :type '(repeat string))

(defcustom hlo-analyzer-settings nil
  "Settings of the server as a property list, like (:gpu (:device \"a100-sxm-80\"))."
  :type 'plist)

;;; Modes

(defconst hlo-analyzer--number "\\_<-?[0-9]+\\(?:\\.[0-9]+\\)?\\(?:[eE][+-]?[0-9]+\\)?\\_>")

(defconst hlo-analyzer--hlo-colours
  `((,(regexp-opt '("HloModule" "ENTRY" "ROOT") 'symbols) . font-lock-keyword-face)
    ("\\_<\\(?:pred\\|token\\|opaque\\|bf16\\|c64\\|c128\\|[suf][0-9]+\\(?:e[0-9]+m[0-9]+[a-z]*\\)?\\)\\_>" . font-lock-type-face)
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
  "Return a syntax table with strings, `//' comments and, if HAS-BLOCK-COMMENTS, `/*'."
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

(add-to-list 'eglot-server-programs
             `((hlo-mode mlir-mode) . ,(lambda (&rest _)
                             (append hlo-analyzer-command
                                     (list :initializationOptions hlo-analyzer-settings)))))

;;; Commands

(defun hlo-analyzer--server ()
  "Return the server of this buffer; signal a user error if there is none."
  (or (eglot-current-server) (user-error "The hlo-analyzer server is not running: M-x eglot")))

(defun hlo-analyzer--ask (method params)
  "Return the response to METHOD with PARAMS."
  (jsonrpc-request (hlo-analyzer--server) (intern (concat ":hlo-analyzer/" method)) params))

(defun hlo-analyzer--document ()
  "Return the document of this buffer."
  (hlo-analyzer--server)
  (eglot--TextDocumentIdentifier))

(defun hlo-analyzer--place ()
  "Return the document of this buffer and point."
  (hlo-analyzer--server)
  (eglot--TextDocumentPositionParams))

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
         (answer (jsonrpc-request (hlo-analyzer--server) :workspace/executeCommand
                                  (list :command "hlo-analyzer.openKernel"
                                        :arguments (vector (plist-get (plist-get here :textDocument) :uri)
                                                           (plist-get here :position))))))
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
        [("Kernel" 40 t) ("µs" 12 hlo-analyzer--less :right-align t) ("%" 7 hlo-analyzer--less :right-align t)
         ("Bytes needed" 16 hlo-analyzer--less :right-align t) ("Bound by" 10 t)]
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

;;; Compiles

(defun hlo-analyzer--go (place)
  "Go to PLACE, which has the URI and the range of an instruction in a stage."
  (find-file (eglot--uri-to-path (plist-get place :uri)))
  (let ((start (plist-get (plist-get place :range) :start)))
    (goto-char (point-min))
    (forward-line (plist-get start :line))
    (forward-char (plist-get start :character))))

(defun hlo-analyzer--pick (prompt items)
  "Let the user pick among ITEMS, pairs of a label and a value, with PROMPT; return the value."
  (let ((table (lambda (string predicate action)
                 (if (eq action 'metadata)
                     ;; In the order of the compile, not of the alphabet.
                     '(metadata (display-sort-function . identity) (cycle-sort-function . identity))
                   (complete-with-action action items string predicate)))))
    (cdr (assoc (completing-read prompt table nil t) items))))

(defun hlo-analyzer--stages (compile)
  "Return the stages of COMPILE that changed something, as pairs of a label and a stage."
  (let* ((stages (seq-mapcat (lambda (pipeline)
                               (mapcar (lambda (stage) (cons (plist-get pipeline :name) stage))
                                       (plist-get pipeline :stages)))
                             (plist-get compile :pipelines)))
         (uris (vconcat (mapcar (lambda (stage) (plist-get (cdr stage) :uri)) stages)))
         (changes (mapcar (lambda (change) (cons (plist-get change :uri) change))
                          (hlo-analyzer--ask "stageChanges" (list :stages uris))))
         shown)
    (dolist (named stages (nreverse shown))
      (let* ((stage (cdr named))
             (change (cdr (assoc (plist-get stage :uri) changes)))
             (pipeline (if (equal (car named) "") "" (concat (car named) ": "))))
        (when (and change (not (memq (plist-get change :isChanged) '(nil :json-false))))
          (push (cons (format "%3d  %s%s  %s" (1+ (plist-get stage :index)) pipeline (plist-get stage :title)
                              (plist-get change :summary))
                      stage)
                shown))))))

(defun hlo-analyzer-compiles ()
  "Pick a compile of the dump folder of this file, then a pass, and open the module after it."
  (interactive)
  (let* ((folder (hlo-analyzer--ask "compiles" (list :textDocument (hlo-analyzer--document))))
         (compiles (append (plist-get folder :compiles) nil)))
    (unless compiles (user-error "This file is in no folder that XLA dumped"))
    (let* ((compile (if (cdr compiles)
                        (hlo-analyzer--pick "Compile: "
                                            (mapcar (lambda (compile)
                                                      (cons (format "%s  %s" (plist-get compile :title)
                                                                    (plist-get compile :description))
                                                            compile))
                                                    compiles))
                      (car compiles)))
           (found (hlo-analyzer--ask "compiles" (list :textDocument (list :uri (plist-get folder :folder))
                                                      :compile (plist-get compile :index))))
           (stage (hlo-analyzer--pick "Pass: " (hlo-analyzer--stages found))))
      (when stage (find-file (eglot--uri-to-path (plist-get stage :uri))))
      stage)))

(defun hlo-analyzer-compare-pass ()
  "Show this stage and the one before it in Ediff.  Only what the pass changed differs."
  (interactive)
  (let* ((found (or (hlo-analyzer--ask "compareStages" (list :textDocument (hlo-analyzer--document)))
                    (user-error "There is no earlier stage of this file")))
         (buffers (mapcar (lambda (side)
                            (let ((name (file-name-nondirectory (eglot--uri-to-path (plist-get side :uri)))))
                              (with-current-buffer (get-buffer-create (format "*%s*" name))
                                (let ((inhibit-read-only t))
                                  (erase-buffer)
                                  (insert (plist-get side :text)))
                                (delay-mode-hooks (hlo-mode))
                                (set-buffer-modified-p nil)
                                (setq buffer-read-only t)
                                (current-buffer))))
                          (list (plist-get found :before) (plist-get found :after)))))
    (when (plist-get found :problem) (message "%s" (plist-get found :problem)))
    (unless noninteractive (ediff-buffers (car buffers) (cadr buffers)))
    buffers))

(defun hlo-analyzer--step (to)
  "Go to the stage before or after the next pass, as TO says, on the same instruction."
  (let ((found (or (hlo-analyzer--ask "stepStage" (append (hlo-analyzer--place) (list :to to)))
                   (user-error "There is no %s pass" to))))
    (hlo-analyzer--go found)
    (message "%s%s" (plist-get found :title)
             (if (plist-get found :note) (concat ": " (plist-get found :note)) ""))))

(defun hlo-analyzer-next-pass ()
  "Go to the same instruction after the next pass."
  (interactive)
  (hlo-analyzer--step "next"))

(defun hlo-analyzer-previous-pass ()
  "Go to the same instruction before the last pass."
  (interactive)
  (hlo-analyzer--step "previous"))

(defun hlo-analyzer-instruction-passes (&optional first)
  "Pick one of the passes that changed the instruction at point, and go there.
With FIRST, go to the first one without asking."
  (interactive)
  (let* ((found (or (hlo-analyzer--ask "instructionStages" (hlo-analyzer--place))
                    (user-error "No instruction of a compile is at this place")))
         (items (mapcar (lambda (stage)
                          (cons (format "%s: %s" (plist-get stage :title) (plist-get stage :what)) stage))
                        (plist-get found :stages)))
         (picked (if first (cdar items)
                   (hlo-analyzer--pick (format "Passes that changed %%%s: " (plist-get found :instruction)) items))))
    (when picked (hlo-analyzer--go picked))
    found))

(defun hlo-analyzer--configure (settings)
  "Send SETTINGS to the running server."
  (jsonrpc-notify (hlo-analyzer--server) :workspace/didChangeConfiguration (list :settings (list :hlo-analyzer settings))))

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
  (jsonrpc-request (hlo-analyzer--server) :workspace/executeCommand
                   (list :command "hlo-analyzer.disableWarning" :arguments (vector code))))

(defalias 'hlo-analyzer-restart #'eglot-reconnect "Restart the server.")
(defalias 'hlo-analyzer-show-log #'eglot-stderr-buffer "Show the log of the server.")

(provide 'hlo-analyzer)
;;; hlo-analyzer.el ends here
