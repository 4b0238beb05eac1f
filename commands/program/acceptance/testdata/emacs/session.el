;; Holds a session with a program in a comint buffer, as M-x shell does, and
;; prints the buffer.  The variable STEPS holds lines "WAIT<tab>SEND"; COMMAND
;; holds the program and its arguments, one a line.

(require 'comint)

(defvar asked nil "Prompts for what must not be shown.")

;; There is nobody to type: what would be typed unseen comes from here.
(advice-add 'read-passwd :override
            (lambda (prompt &rest _) (push prompt asked) "a-secret-key"))

(defun give-up (why)
  "Say WHY, with the buffer, and end."
  (princ (buffer-string))
  (princ (format "\n%s\n" why))
  (kill-emacs 1))

(defun wait-for (buffer text from)
  "Wait until TEXT is in BUFFER behind FROM, and return where it ends."
  (with-current-buffer buffer
    (let ((process (get-buffer-process buffer))
          (late (+ (float-time) 60)) found)
      (while (not (setq found (save-excursion
                                (goto-char from)
                                (search-forward text nil t))))
        (when (or (> (float-time) late) (not (process-live-p process)))
          (give-up (format "no %S" text)))
        (accept-process-output process 1))
      found)))

(let* ((command (split-string (getenv "COMMAND") "\n"))
       (steps (split-string (getenv "STEPS") "\n" t))
       (process-environment (append '("COMMAND" "STEPS") process-environment))
       (buffer (apply #'make-comint-in-buffer "session" nil (car command) nil (cdr command)))
       (process (get-buffer-process buffer))
       (from 1))
  (set-process-query-on-exit-flag process nil)
  (with-current-buffer buffer
    (setq-local comint-prompt-regexp "^[^#$%>\n]*[#$%>] *") ; that of M-x shell
    (dolist (step steps)
      (let* ((parts (split-string step "\t"))
             (send (cadr parts)))
        (setq from (wait-for buffer (car parts) from))
        (cond
         ((null send))
         ((string= send "C-c") (comint-interrupt-subjob))
         ((string= send "C-d") (comint-send-eof))
         (t
          (goto-char (point-max))
          (when (string= (car parts) "> ")
            (forward-line 0) ; the start of the line, prompt included
            (princ (format "prompt %S\n" (and (looking-at comint-prompt-regexp) (match-string-no-properties 0))))
            (goto-char (point-max)))
          (insert (string-replace "<RET>" "\n" send))
          (comint-send-input)
          (setq from (marker-position comint-last-input-end))))))
    (let ((late (+ (float-time) 60)))
      (while (process-live-p process)
        (accept-process-output process 1)
        (when (> (float-time) late) (give-up "it still runs"))))
    (princ (buffer-string))
    (dolist (prompt asked) (princ (format "asked %S\n" prompt)))
    (princ (format "exit %d\n" (process-exit-status process)))))
