import type { IBinaryData, INodeProperties } from 'n8n-workflow';
import { readRecording } from '../../core/calls/readCall';
import { ExplainedError, InvalidInput, OutcomeUnknown } from '../../core/service/errors';
import { TransportFault } from '../../core/service/http';
import { isJsonObject } from '../../core/values/json';
import { asText, plainText } from '../../core/values/values';
import type { CallerRun } from '../../host/caller/caller';
import { cancelSignal } from '../../host/execution/cancel';
import { isByteStream, TIME_LIMITS, toFault, toHttpResponse } from '../../host/http/transport';
import { asItems } from '../../host/run/itemLoop';
import type { Operation } from '../../host/run/operations';
import { callIdField, callOptions, forEachCall } from '../callFields';

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
			const isLink = form.choice('recordingAs', 'link') === 'link';
			const field = form.text('outputField');
			if (!isLink && field === '')
				throw new InvalidInput(
					"'Put Output File in Field' is empty",
					'Enter the name of the output field for the file, such as data.',
				);
			const recording = await readRecording(client, callId, additions);
			if (isLink) return asItems(recording);
			const file = await download(run, asText(recording.recording_url), callId);
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

/** Types that say nothing. */
const ANY_TYPE = /^$|^(?:application|binary)\/octet-stream$|^text\/plain$/;
const ERROR_PAGE = /^text\/html$|[/+](?:json|xml)$/;
const EXTENSION = /\.[a-z0-9]{1,5}(?="?$)/i;

/**
 * Downloads a recording from its presigned URL to n8n's binary data storage. The URL may be of another host, so the request
 * doesn't have the API token. The file has the name of its call, because names in storage say little.
 *
 * @throws OutcomeUnknown if it can't be downloaded, or isn't a recording
 */
async function download(run: CallerRun, url: string, callId: string): Promise<IBinaryData> {
	if (!/^https?:/i.test(url) || !URL.canParse(url))
		throw notSaved('The service returned an invalid recording_url');
	const limit = AbortSignal.timeout(TIME_LIMITS.downloadMs);
	try {
		const response: unknown = await run.context.helpers.httpRequest({
			url,
			// n8n's HTTP helper doesn't report a truncated compressed body.
			headers: { 'Accept-Encoding': 'identity' },
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			timeout: TIME_LIMITS.silenceMs,
			// n8n's helper without a credential doesn't end when the execution is stopped.
			abortSignal: AbortSignal.any([cancelSignal(run), limit]),
		});
		const { body, ...rest }: { [name: string]: unknown } = isJsonObject(response) ? response : {};
		if (!isByteStream(body)) throw new TransportFault('NO_RESPONSE');
		const { status, headers } = toHttpResponse(rest);
		const [type = ''] = plainText(headers['content-type']).toLowerCase().split(/[;\s]/);
		if (status !== 200 || ERROR_PAGE.test(type)) {
			// Closes the connection. The text isn't shown, because it may have parts of the presigned URL.
			body.destroy();
			throw notSaved(`The storage returned HTTP status ${status}, type "${type}"`);
		}
		const names = [plainText(headers['content-disposition']), new URL(url).pathname];
		const extension = names.map((name) => EXTENSION.exec(name)?.[0]).find(Boolean) ?? '';
		const mimeType = ANY_TYPE.test(type) && extension !== '' ? undefined : type;
		const file = await run.context.helpers.prepareBinaryData(body, callId + extension, mimeType);
		const length = Number(headers['content-length'] ?? NaN);
		const { bytes = length } = file;
		if (bytes === 0 || (length >= 0 && length !== bytes)) throw notSaved(INCOMPLETE);
		return file;
	} catch (error) {
		throw error instanceof ExplainedError ? error : notSaved(INCOMPLETE, toFault(error).message);
	}
}

const INCOMPLETE = "The recording couldn't be downloaded completely";

function notSaved(message: string, originalMessage?: string): OutcomeUnknown {
	const resolution =
		"No file was saved. Try again, which uses a new link, or set 'Recording As' to 'Link' and open the link in a browser.";
	return new OutcomeUnknown(message, resolution, { originalMessage });
}
