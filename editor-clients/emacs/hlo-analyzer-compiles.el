;;; hlo-analyzer-compiles.el --- the passes of a compile  -*- lexical-binding: t -*-

;;; Commentary:
;; The compiles of a dump folder: their passes, what each changed, and the way of an instruction through them.

;;; Code:

(require 'ediff)
(require 'hlo-analyzer-client)

(defun hlo-analyzer--go (place)
  "Go to PLACE, which has the URI and the range of an instruction in a stage."
  (find-file (hlo-analyzer--path (plist-get place :uri)))
  (let ((start (plist-get (plist-get place :range) :start)))
    (goto-char (point-min))
    (forward-line (plist-get start :line))
    (forward-char (plist-get start :character))))

(defun hlo-analyzer--pick (prompt items)
  "Let the user pick among ITEMS with PROMPT.
ITEMS are pairs of a label and a value; return the value."
  (let ((table (lambda (string predicate action)
                 (if (eq action 'metadata)
                     ;; In the order of the compile, not of the alphabet.
                     '(metadata (display-sort-function . identity) (cycle-sort-function . identity))
                   (complete-with-action action items string predicate)))))
    (cdr (assoc (completing-read prompt table nil t) items))))

(defun hlo-analyzer--stages (compile)
  "Return the stages of COMPILE that changed something.
Each is a pair of a label and a stage."
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
          (push (cons (format "%s%s (%d of %d)  %s" pipeline (plist-get stage :title)
                              (1+ (plist-get stage :index)) (length stages) (plist-get change :summary))
                      stage)
                shown))))))

(defun hlo-analyzer-compiles ()
  "Pick a compile of the dump folder of this file, then a pass.
Open the module after that pass."
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
      (when stage (find-file (hlo-analyzer--path (plist-get stage :uri))))
      stage)))

(defun hlo-analyzer--first-difference ()
  "Go to the first difference of this Ediff session."
  (when (> ediff-number-of-differences 0) (ediff-next-difference)))

(defun hlo-analyzer-compare-pass ()
  "Show this stage and the one before it in Ediff.
Only what the pass changed differs."
  (interactive)
  (let* ((found (or (hlo-analyzer--ask "compareStages" (list :textDocument (hlo-analyzer--document)))
                    (user-error "There is no earlier stage of this file")))
         (buffers (mapcar (lambda (side)
                            (let ((name (file-name-nondirectory (hlo-analyzer--path (plist-get side :uri)))))
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
    (ediff-buffers (car buffers) (cadr buffers) (list #'hlo-analyzer--first-difference))
    buffers))

(defun hlo-analyzer--step (to)
  "Go to the same instruction in the next or the previous stage, as TO says."
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

(defun hlo-analyzer-compile-with-xla ()
  "Compile this module with the XLA of a local Python.
Open the optimised module.  `hlo-analyzer-settings' name the Python:
\(:xla (:python \"/opt/jax/bin/python\") :workspace (:trusted t))."
  (interactive)
  (message "XLA compiles %s…" (buffer-name))
  (let* ((found (let ((hlo-analyzer--patience 330))
                  (hlo-analyzer--ask "compileWithXla" (list :textDocument (hlo-analyzer--document)))))
         (module (plist-get found :module)))
    (unless module (user-error "%s" (or (plist-get found :reason) "The server has not read this file")))
    (find-file (hlo-analyzer--path module))
    found))

(provide 'hlo-analyzer-compiles)
;;; hlo-analyzer-compiles.el ends here
