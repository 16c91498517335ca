import type { INodeProperties } from 'n8n-workflow';
import { plainText } from '../core/values/values';
import type { Fields } from '../host/forms/fields';
import { NotPlaced } from './notPlaced';
import { scheduledTime } from './callTime';

const CHECK = 'check';
const PLACE = 'place';

export const whatToDo: INodeProperties = {
	displayName: 'What to Do',
	name: 'whatToDo',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'Check Only',
			value: CHECK,
			description:
				"Calls nobody. The output shows who would be called, and when, without 'Limit Calls per Person'.",
		},
		{ name: 'Place Calls', value: PLACE },
	],
	default: CHECK,
	description: 'Whether to call, or to see first who would be called',
};

/** Hides a text about calls if nobody is called. */
export const HIDDEN_IN_CHECK = { [whatToDo.name]: [CHECK] };

export const checkNotice: INodeProperties = {
	displayName:
		'This node checks the items, and calls nobody. Look at the output, and then choose <b>Place Calls</b>.',
	name: 'checkNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: HIDDEN_IN_CHECK },
};

export function readChecksOnly(form: Fields): boolean {
	return form.has(whatToDo.name) && form.choice(whatToDo.name, '') !== PLACE;
}

/** Why a call that is possible isn't placed. */
export function onlyChecked(scheduledAt: unknown, zone: string): NotPlaced {
	const at = scheduledAt === undefined ? undefined : plainText(scheduledAt);
	const would_call_at = scheduledTime({}, at, zone) ?? 'now';
	return new NotPlaced(
		"The call wasn't placed, because 'What to Do' is 'Check Only'",
		`In n8n, set 'What to Do' to 'Place Calls'. The request is valid (time of the call: ${would_call_at}).`,
		{ not_placed_reason: 'check_only', would_call_at },
		true,
	);
}
