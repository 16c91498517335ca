import type { INodeProperties } from 'n8n-workflow';
import { InvalidInput } from '../../core/service/errors';
import type { Fields } from '../../host/forms/fields';

const waitForCompletion: INodeProperties = {
	displayName: 'Wait for Completion',
	name: 'waitForCompletion',
	type: 'boolean',
	noDataExpression: true,
	default: false,
	description:
		"Whether to continue with the results of the completed calls. The node reads the calls until all have ended, an hour at most. Calls that are scheduled for later aren't waited for. For results that take longer, or that must survive a restart of n8n, start another workflow with Call Completed Trigger.",
};

/** A longer wait would be lost too often by a restart of n8n. */
const MAX_MINUTES = 60;

/** An option of *Ask and Wait*, which always waits. */
export const timeLimit: INodeProperties = {
	displayName: 'Time Limit (Minutes)',
	name: 'waitMinutes',
	type: 'number',
	noDataExpression: true,
	typeOptions: { minValue: 1, maxValue: MAX_MINUTES },
	default: MAX_MINUTES,
	description:
		"How long to wait, 60 minutes at most. Calls that haven't ended by then are returned with timed_out set to true.",
};

/** *Wait for Completion* of *Place*, with its time limit. */
export const waitFields: INodeProperties[] = [
	waitForCompletion,
	{ ...timeLimit, displayOptions: { show: { [waitForCompletion.name]: [true] } } },
];

/**
 * How long a node run waits for its calls, in milliseconds. Undefined if the node doesn't wait.
 *
 * @throws InvalidInput if the time limit isn't more than 0 and at most 60 minutes
 */
export function readWaitLimit(form: Fields): number | undefined {
	const options = form.collection('options');
	const isOptional = form.has(waitForCompletion.name);
	if (isOptional && !form.switch(waitForCompletion.name, false)) return undefined;
	const fields = isOptional ? form : options;
	const minutes = fields.number(timeLimit.name, MAX_MINUTES);
	if (!(minutes > 0 && minutes <= MAX_MINUTES)) {
		throw new InvalidInput(
			`'Time Limit (Minutes)' must be more than 0 and at most ${MAX_MINUTES} (got ${minutes})`,
			'For results that take longer, start another workflow with Call Completed Trigger.',
		);
	}
	return minutes * 60_000;
}
