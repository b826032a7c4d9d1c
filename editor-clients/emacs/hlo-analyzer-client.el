;;; hlo-analyzer-client.el --- the server under eglot and lsp-mode  -*- lexical-binding: t -*-

;;; Commentary:
;; Starts the server, and asks it.  Commands get property lists from both clients.

;;; Code:

(require 'eglot)
(require 'hlo-analyzer-modes)

(defvar lsp-language-id-configuration)
(defvar lsp-response-timeout)
(declare-function lsp-request "lsp-mode")
(declare-function lsp-notify "lsp-mode")
(declare-function lsp-workspaces "lsp-mode")
(declare-function lsp-register-client "lsp-mode")
(declare-function lsp-stdio-connection "lsp-mode")
(declare-function make-lsp-client "lsp-mode")
(declare-function lsp--text-document-identifier "lsp-mode")
(declare-function lsp--text-document-position-params "lsp-mode")
(declare-function lsp--uri-to-path "lsp-mode")
(declare-function lsp-workspace-restart "lsp-mode")
(declare-function lsp-workspace-show-log "lsp-mode")

(defgroup hlo-analyzer nil "XLA HLO and MLIR." :group 'languages)

(defcustom hlo-analyzer-command '("hlo-analyzer")
  "The command that starts the server, with its arguments."
  :type '(repeat string))

(defcustom hlo-analyzer-settings nil
  "Settings of the server as a property list, like (:gpu (:device \"a100-sxm-80\"))."
  :type 'plist)

(add-to-list 'eglot-server-programs
             `((hlo-mode mlir-mode) . ,(lambda (&rest _)
                             (append hlo-analyzer-command
                                     (list :initializationOptions hlo-analyzer-settings)))))

(with-eval-after-load 'lsp-mode
  (add-to-list 'lsp-language-id-configuration '(hlo-mode . "hlo"))
  (add-to-list 'lsp-language-id-configuration '(mlir-mode . "mlir"))
  (lsp-register-client
   (make-lsp-client :server-id 'hlo-analyzer
                    :new-connection (lsp-stdio-connection (lambda () hlo-analyzer-command))
                    :major-modes '(hlo-mode mlir-mode)
                    ;; Before other servers for MLIR.
                    :priority 1
                    :multi-root t
                    :initialization-options (lambda () hlo-analyzer-settings))))

(defun hlo-analyzer--under-lsp-mode ()
  "Return non-nil if lsp-mode manages this buffer."
  (and (bound-and-true-p lsp-mode) (lsp-workspaces)))

(defun hlo-analyzer--server ()
  "Return the eglot server of this buffer; signal a user error if there is none."
  (or (eglot-current-server) (user-error "The hlo-analyzer server is not running: M-x eglot or M-x lsp")))

(defun hlo-analyzer--plain (answer)
  "Return ANSWER of lsp-mode in the form that eglot gives."
  (cond ((hash-table-p answer)
         (let (members)
           (maphash (lambda (name value)
                      (setq members (nconc members (list (intern (concat ":" name)) (hlo-analyzer--plain value)))))
                    answer)
           members))
        ((vectorp answer) (vconcat (mapcar #'hlo-analyzer--plain answer)))
        ((consp answer) (mapcar #'hlo-analyzer--plain answer))
        (t answer)))

(defvar hlo-analyzer--patience nil
  "The time that a request may take, in seconds, or nil for the client's own.")

(defun hlo-analyzer--request (method params)
  "Return the response to METHOD with PARAMS."
  (if (hlo-analyzer--under-lsp-mode)
      (let ((lsp-response-timeout (or hlo-analyzer--patience lsp-response-timeout)))
        (hlo-analyzer--plain (lsp-request method params)))
    (apply #'jsonrpc-request (hlo-analyzer--server) (intern (concat ":" method)) params
           (and hlo-analyzer--patience (list :timeout hlo-analyzer--patience)))))

(defun hlo-analyzer--ask (method params)
  "Return the response to our own METHOD with PARAMS."
  (hlo-analyzer--request (concat "hlo-analyzer/" method) params))

(defun hlo-analyzer--execute (command &rest arguments)
  "Return the response to the server's own COMMAND with ARGUMENTS."
  (hlo-analyzer--request "workspace/executeCommand"
                         (list :command (concat "hlo-analyzer." command) :arguments (vconcat arguments))))

(defun hlo-analyzer--notify (method params)
  "Send the notification METHOD with PARAMS."
  (if (hlo-analyzer--under-lsp-mode)
      (lsp-notify method params)
    (jsonrpc-notify (hlo-analyzer--server) (intern (concat ":" method)) params)))

(defun hlo-analyzer--document ()
  "Return the document of this buffer."
  (cond ((hlo-analyzer--under-lsp-mode) (lsp--text-document-identifier))
        (t (hlo-analyzer--server) (eglot--TextDocumentIdentifier))))

(defun hlo-analyzer--place ()
  "Return the document of this buffer and point."
  (cond ((hlo-analyzer--under-lsp-mode) (lsp--text-document-position-params))
        (t (hlo-analyzer--server) (eglot--TextDocumentPositionParams))))

(defun hlo-analyzer--path (uri)
  "Return the file of URI."
  (cond ((hlo-analyzer--under-lsp-mode) (lsp--uri-to-path uri))
        ((fboundp 'eglot-uri-to-path) (eglot-uri-to-path uri))
        ;; Emacs 29.
        (t (with-no-warnings (eglot--uri-to-path uri)))))

(defun hlo-analyzer-restart ()
  "Restart the server."
  (interactive)
  (call-interactively (if (hlo-analyzer--under-lsp-mode) #'lsp-workspace-restart #'eglot-reconnect)))

(defun hlo-analyzer-show-log ()
  "Show the log of the server."
  (interactive)
  (call-interactively (if (hlo-analyzer--under-lsp-mode) #'lsp-workspace-show-log #'eglot-stderr-buffer)))

(provide 'hlo-analyzer-client)
;;; hlo-analyzer-client.el ends here
