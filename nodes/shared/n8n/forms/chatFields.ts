import type { INodeProperties } from 'n8n-workflow';
import type { Fields } from './fields';

/** The chat session that an item is about. */
export const sessionField: INodeProperties = {
	displayName: 'Session ID',
	name: 'sessionId',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. 0f8fad5b-d9cb-469f-a165-70867728950e',
	description: 'The ID of the chat session, which is in session_id of the node that created it',
};

/** The user's confirmation that another client may lose the session. */
export const takeOverField: INodeProperties = {
	displayName: 'Take Over',
	name: 'takeOver',
	type: 'boolean',
	default: false,
	description:
		'Whether to take over the live connection of the session from another client, such as a support desk or another n8n. The nodes of this n8n share one connection.',
};

/** Shows a field only if these parameters have these values. */
export function shownWhere(
	field: INodeProperties,
	show: NonNullable<NonNullable<INodeProperties['displayOptions']>['show']>,
): INodeProperties {
	return { ...field, displayOptions: { show } };
}

/** The documented events of a chat session. */
export const eventTypesField: INodeProperties = {
	displayName: 'Events',
	name: 'eventTypes',
	type: 'multiOptions',
	options: [
		{
			name: 'AI Resumed After a Nudge',
			value: 'auto_resume_fired',
		},
		{
			name: 'Follow-Up Sent by the Agent',
			value: 'nudge_sent',
		},
		{
			name: 'Message Added',
			value: 'message_received',
			description: 'By the customer or by the AI',
		},
		{
			name: 'Session Closed',
			value: 'session_closed',
		},
		{
			name: 'Session Dormant',
			value: 'session_dormant',
			description: 'The customer was inactive',
		},
		{
			name: 'Session Reactivated',
			value: 'session_reactivated',
		},
		{
			name: 'Switched Between AI and Human',
			value: 'mode_changed',
		},
		{
			name: 'Turn Result',
			value: 'turn_result',
			description: 'A message that was processed later has its result',
		},
	],
	default: [],
};

export const otherEventTypesField: INodeProperties = {
	displayName: 'Other Event Types',
	name: 'otherEventTypes',
	type: 'string',
	default: '',
	placeholder: 'e.g. operator_joined, typing_started',
	description: 'Types that your service sends beyond those in the list, separated by commas',
};

/** The selected types. Null for all events. */
export function chosenTypes(form: Fields, options: Fields): ReadonlySet<string> | null {
	const others = options.textOrList('otherEventTypes');
	const typed = (Array.isArray(others) ? others : [others]).flatMap((one) => one.split(/[\s,;]+/));
	const types = [...form.choices('eventTypes'), ...typed].filter((type) => type !== '');
	return types.length === 0 ? null : new Set(types);
}
