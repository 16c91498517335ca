import { asItems } from '../../host/run/itemLoop';
import {
	callOutput,
	callOutputFields,
	includeField,
	readOutput,
} from '../../host/forms/outputFields';
import type { Operation } from '../../host/run/operations';
import { readIncluded } from '../../core/calls/readCall';
import { getCall } from '../../core/service/endpoints';
import { recordOf } from '../../core/service/envelope';
import { callIdField, callOptions, forEachCall } from '../callFields';

export const get: Operation = {
	value: 'get',
	name: 'Get',
	action: 'Get call',
	description: 'Retrieve the record of a call: outcome, summary, captured data, analysis',
	subtitle: 'get call',
	fields: [callIdField, includeField, ...callOutputFields, callOptions()],
	isReadOnly: true,
	toolDescription:
		'Gets one phone call by its call ID: whether the person was reached, a summary of the conversation, and the captured data. Places no calls and changes nothing.',

	async execute(run) {
		return await forEachCall(run, async ({ client, optOutKey, callId, additions, form }) => {
			const output = readOutput(form);
			const include = form.choices('include');
			const record = recordOf(await getCall(client, callId, additions));
			const included = await readIncluded(client, callId, include, additions);
			return asItems(callOutput(output, record, included, optOutKey));
		});
	},
};
