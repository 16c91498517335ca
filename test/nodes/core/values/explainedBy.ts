import { explained, type ExplainedError } from '../../../../nodes/core/service/errors';

/** The error with which the function stops. */
export function explainedBy(act: () => unknown): ExplainedError {
	try {
		act();
	} catch (error) {
		return explained(error);
	}
	throw new Error('No error was thrown');
}
