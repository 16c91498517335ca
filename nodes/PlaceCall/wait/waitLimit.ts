import type { INodeProperties } from 'n8n-workflow';
import { InvalidInput } from '../../core/service/errors';
import type { Fields } from '../../host/forms/fields';

/** A longer wait would be lost too often by a restart of n8n. */
const MAX_MINUTES = 60;

export const waitMinutes: INodeProperties = {
	displayName: 'Wait for Completion (Minutes)',
	name: 'waitMinutes',
	type: 'number',
	noDataExpression: true,
	typeOptions: { minValue: 1, maxValue: MAX_MINUTES },
	default: MAX_MINUTES,
	description: `Continue when the calls have ended, with their results and captured answers, after ${MAX_MINUTES} minutes at most. Calls for later aren't waited for.`,
};

/**
 * How long a node run waits for its calls, in milliseconds. Undefined if the node doesn't wait.
 *
 * @param isAlways whether it waits without the option, for the answer to a question
 * @throws InvalidInput if the time limit isn't more than 0 and at most 60 minutes
 */
export function readWaitLimit(form: Fields, isAlways: boolean): number | undefined {
	const options = form.collection('options');
	if (!isAlways && !options.has(waitMinutes.name)) return undefined;
	const minutes = options.number(waitMinutes.name, MAX_MINUTES);
	if (!(minutes > 0 && minutes <= MAX_MINUTES)) {
		throw new InvalidInput(
			`'${waitMinutes.displayName}' must be more than 0 and at most ${MAX_MINUTES} (got ${minutes})`,
			'For results that take longer, start another workflow with Call Completed Trigger.',
		);
	}
	return minutes * 60_000;
}
