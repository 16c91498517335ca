import type { INodeProperties } from 'n8n-workflow';
import { OPT_OUT_KEY, type OptOutFilter } from '../../core/calls/optOut';
import type { Fields } from './fields';

export const optOutKeyField: INodeProperties = {
	displayName: 'Opt-Out Key',
	name: 'optOutKey',
	type: 'string',
	// The webhook of a wait has no items.
	noDataExpression: true,
	default: OPT_OUT_KEY,
	description: `The key of the data point that tells whether the person asked for no more calls, ${OPT_OUT_KEY} by default. Its captured value decides opted_out in the output: true for yes, false for no, and null for anything else.`,
};

export function readOptOutKey(options: Fields): string {
	return (options.has(optOutKeyField.name) && options.text(optOutKeyField.name)) || OPT_OUT_KEY;
}

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

export function readOptOutFilter(filters: Fields, options: Fields): OptOutFilter {
	return { key: readOptOutKey(options), wanted: filters.choice(optedOutFilter.name, '') };
}
