import type { INodeProperties } from 'n8n-workflow';

/** A filter of calls. */
export const optedOutFilter: INodeProperties = {
	displayName: 'Opted Out',
	name: 'optedOut',
	type: 'options',
	options: [
		{ name: 'No', value: 'false', description: 'The agent captured that the person accepts calls' },
		{ name: 'Unknown', value: 'null', description: 'Nothing clear was captured' },
		{ name: 'Yes', value: 'true', description: 'The person asked for no more calls' },
	],
	default: 'true',
	description:
		"Only calls with this opted_out. It's decided by the value that the agent captured, never by the summary or the transcript.",
};
