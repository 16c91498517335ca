import { asItems } from '../../host/run/itemLoop';
import { outputFields, readOutput, selectOutput } from '../../host/forms/outputFields';
import type { Operation } from '../../host/run/operations';
import { transcriptText, transcriptTurns } from '../../core/calls/callRecord';
import { getTranscript as requestTranscript } from '../../core/service/endpoints';
import { recordOf } from '../../core/service/envelope';
import { callIdField, forEachCall, callOptions } from '../callFields';

export const getTranscript: Operation = {
	value: 'getTranscript',
	name: 'Get Transcript',
	action: 'Get call transcript',
	description: 'Retrieve the transcript of a call, as a list and as text',
	subtitle: 'get transcript',
	fields: [
		callIdField,
		...outputFields('raw', 'The conversation as text, with one line per turn', 'transcript_text'),
		callOptions(),
	],
	isReadOnly: true,
	toolDescription:
		"Gets the transcript of one phone call by its call ID. Use it if the summary of the call isn't enough. Places no calls and changes nothing.",

	async execute(run) {
		return await forEachCall(run, async ({ client, callId, additions, form }) => {
			const output = readOutput(form);
			const record = recordOf(await requestTranscript(client, callId, additions));
			const transcript = transcriptTurns(record);
			const text = { transcript_text: transcriptText(transcript) };
			const simplified = { call_id: record.call_id ?? callId, ...text };
			return asItems(selectOutput(output, { raw: { ...record, transcript, ...text }, simplified }));
		});
	},
};
