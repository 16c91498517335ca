import type { INodeProperties } from 'n8n-workflow';
import { downloadRecording } from '../downloadRecording';
import { asItems } from '../../host/run/itemLoop';
import type { Operation } from '../../host/run/operations';
import { readRecording } from '../../core/calls/readCall';
import { InvalidInput } from '../../core/service/errors';
import { asText } from '../../core/values/values';
import { callIdField, forEachCall, callOptions } from '../callFields';

const recordingFields: INodeProperties[] = [
	{
		displayName: 'Recording As',
		name: 'recordingAs',
		type: 'options',
		noDataExpression: true,
		options: [
			{ name: 'File', value: 'file', description: 'Download the recording for the next nodes' },
			{
				name: 'Link',
				value: 'link',
				description: 'Return a link that is valid for 15 minutes, until expires_at',
			},
		],
		default: 'link',
		description: 'Whether to return a link to the recording or the file',
	},
	{
		displayName: 'Put Output File in Field',
		name: 'outputField',
		type: 'string',
		default: 'data',
		required: true,
		placeholder: 'e.g. recording',
		hint: 'The name of the output binary field to put the file in',
		displayOptions: { show: { recordingAs: ['file'] } },
	},
];

export const getRecording: Operation = {
	value: 'getRecording',
	name: 'Get Recording',
	action: 'Get call recording',
	description: 'Retrieve a link to the recording of a call, or download it',
	subtitle: 'get recording',
	fields: [callIdField, ...recordingFields, callOptions()],
	isReadOnly: true,
	toolDescription:
		'Gets a link to the audio recording of one phone call by its call ID. Places no calls and changes nothing.',

	async execute(run) {
		return await forEachCall(run, async ({ client, callId, additions, form }) => {
			const asFile = form.choice('recordingAs', 'link') === 'file';
			const field = asFile ? outputField(form.text('outputField')) : '';
			const recording = await readRecording(client, callId, additions);
			if (!asFile) return asItems(recording);
			const file = await downloadRecording(run, asText(recording.recording_url), callId);
			const json = {
				call_id: recording.call_id ?? callId,
				file_name: file.fileName ?? null,
				mime_type: file.mimeType,
				file_size: file.fileSize ?? null,
			};
			return [{ json, binary: { [field]: file } }];
		});
	},
};

function outputField(name: string): string {
	if (name !== '') return name;
	throw new InvalidInput(
		"'Put Output File in Field' is empty",
		'Enter the name of the output field for the file, such as data.',
	);
}
