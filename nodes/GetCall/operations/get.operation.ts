import { asItems } from '../../host/run/itemLoop';
import { readOutput, selectOutput } from '../../host/forms/outputFields';
import type { Operation } from '../../host/run/operations';
import { simplifyCall } from '../../core/calls/callRecord';
import { readIncluded } from '../../core/calls/readCall';
import { getCall } from '../../core/service/endpoints';
import { recordOf } from '../../core/service/envelope';
import { callIdField, callOutputFields, forEachCall, callOptions } from '../callFields';

export const get: Operation = {
	value: 'get',
	name: 'Get',
	action: 'Get call',
	description: 'Retrieve the record of a call: outcome, summary, captured data, analysis',
	subtitle: 'get call',
	fields: [
		callIdField,
		{
			displayName: 'Include',
			name: 'include',
			type: 'multiOptions',
			options: [
				{
					name: 'Recording',
					value: 'recording',
					description: 'A link to the recording, or null if there is none',
				},
				{
					name: 'Transcript',
					value: 'transcript',
					description: 'The transcript, or an empty list if there is none',
				},
			],
			default: [],
			description: 'What else to get for the call. Each option sends another request.',
		},
		...callOutputFields,
		callOptions(),
	],
	isReadOnly: true,
	toolDescription:
		'Gets one phone call by its call ID: whether the person was reached, a summary of the conversation, and the captured data. Places no calls and changes nothing.',

	async execute(run) {
		return await forEachCall(run, async ({ client, optOutKey, callId, additions, form }) => {
			const output = readOutput(form);
			const include = form.choices('include');
			const record = recordOf(await getCall(client, callId, additions));
			const included = await readIncluded(client, callId, include, additions);
			const simplified = { ...simplifyCall(record, optOutKey), ...included };
			return asItems(selectOutput(output, { raw: { ...record, ...included }, simplified }));
		});
	},
};
