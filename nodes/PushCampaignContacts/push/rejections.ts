import { type ExplainedError, InvalidInput, ServiceRejection } from '../../core/service/errors';
import { VALIDATION_STATUSES } from '../../core/service/http';
import { onScreenOnly } from '../../core/service/resolution';
import { PUSH_LIMITS } from './rows';

const PAYLOAD_TOO_LARGE = 413;
/** Ignores nested ones: `contacts[3].contacts[0]` names a field of a contact. */
const NAMED_CONTACT = /(?<!\]\.)\bcontacts\s*\[\s*\d+\s*\]/i;
const MAX_REASON_CHARACTERS = 1_000;

/**
 * Whether a request may be sent again in halves, until the rows that the service rejects are alone. It isn't documented from
 * which number the service counts the contact that it names, and it may quote a cell, so the index isn't used.
 *
 * @param isPart whether it has the rows of a request that was rejected like this
 */
export function isAboutRows(error: ExplainedError, isPart: boolean): error is ServiceRejection {
	if (!(error instanceof ServiceRejection)) return false;
	if (error.status === PAYLOAD_TOO_LARGE) return true;
	if (!VALIDATION_STATUSES.has(error.status)) return false;
	return isPart || error.rejection.texts.some((text) => NAMED_CONTACT.test(text));
}

/** The reason of a row that the service rejected when it was sent alone. */
export function rejectionReason({ status, originalMessage, rejection }: ServiceRejection): string {
	if (status === PAYLOAD_TOO_LARGE) {
		const said = originalMessage === undefined ? '' : ` The service said: ${originalMessage}`;
		return `The row is too large for the service, even in a request of its own. Shorten its texts, or send fewer of them.${said}`;
	}
	const text = rejection.texts.join(' · ');
	const shown =
		text.length > MAX_REASON_CHARACTERS ? `${text.slice(0, MAX_REASON_CHARACTERS)}...` : text;
	return `The service rejected this row: ${shown}`;
}

/** Why the push stops although the rejections are about rows. */
export function tooManyRejected({ originalMessage }: ExplainedError): ExplainedError {
	return new InvalidInput(
		`The service rejected ${PUSH_LIMITS.rejected} rows of one request, so the remaining rows weren't sent`,
		onScreenOnly("The rows probably have the same fault, such as a wrong 'Phone Column'."),
		{ originalMessage },
	);
}
