import { fixtures, type Dialect } from '../../simulator';
import { CUSTOMER_ROLE } from '../../simulator/state/fixtures';
import type { ContractCase } from '../contractCase';

const { calls, agents, campaigns, uploads } = fixtures;
const UNKNOWN = '6f1c2a34-0000-4000-8000-999999999999';

/** Every documented field of a call record. */
const record = {
	call_id: calls.finished,
	agent_uuid: agents.full,
	agent_name: 'Sales India',
	phone_number: '+919876500001',
	from_number: '+918045671234',
	status: 'picked',
	call_type: 'outbound',
	channel: 'sip',
	duration_seconds: 42,
	call_ended_by: 'agent',
	call_ended_reason: 'assistant-ended-call',
	call_ended_reason_message: expect.any(String),
	campaign_id: campaigns.active,
	campaign_upload_id: uploads.completed,
	tag: { id: 7, name: 'Interested', color_code: '#2E7D32' },
	created_at: expect.any(String),
	call_picked_at: expect.any(String),
	caller_name: 'Contact 1',
	retry_count: 0,
	summary: expect.any(String),
	data_captured: {},
	post_call_analysis: { sentiment: 'positive', callback_required: false },
};

const read = (id: string, part = '') => `GET /v1/call/${id}${part}`;

const withBoth = (callId: string) => ({
	parameters: { operation: 'get', callId, include: ['transcript', 'recording'] },
	requests: ['', '/transcript', '/recording'].map((part) => read(callId, part)),
});

const turn = (role: string, content: string) => ({ role, content, timestamp: expect.any(String) });

const talk = [
	turn('assistant', 'Hello, do you have a minute?'),
	turn(CUSTOMER_ROLE, 'Yes, go ahead.'),
	turn('assistant', 'Thank you. Goodbye.'),
];

const link = {
	call_id: calls.finished,
	recording_url: expect.stringMatching(/^http/),
	expires_in_seconds: 900,
	expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
};

const fileOf = (dialect: Dialect) =>
	`GET ${new URL(dialect.calls.recordingUrl('http://127.0.0.1', '')).pathname}/${calls.finished}`;

/** What happens if the storage sends no complete file is in test/network/recordingFile.test.ts. */
export const getCall: ContractCase[] = [
	{
		title: 'returns every field of the call record',
		parameters: { operation: 'get', callId: calls.finished, output: 'raw' },
		requests: [read(calls.finished)],
		output: [record],
	},
	{
		title: 'includes the transcript and the recording',
		...withBoth(calls.finished),
		output: [{ outcome: 'Answered', transcript: talk, recording: link }],
	},
	{
		title: 'includes an empty transcript and no recording if there are none',
		...withBoth(calls.notPicked),
		output: [{ outcome: 'Not answered', transcript: [], recording: null }],
	},
	...['get', 'getTranscript', 'getRecording'].map(
		(operation, index): ContractCase => ({
			title: `${operation}: recognizes an unknown call at any HTTP status`,
			parameters: { operation, callId: UNKNOWN },
			requests: [read(UNKNOWN, ['', '/transcript', '/recording'][index])],
			rejection: "The service doesn't know this call",
		}),
	),
	{
		title: 'recognizes that there is no recording, at any HTTP status',
		parameters: { operation: 'getRecording', callId: calls.noRecording },
		requests: [read(calls.noRecording, '/recording')],
		rejection: 'This call has no recording',
	},
	{
		title: 'downloads the recording without the token, with name and type from the response',
		parameters: {
			operation: 'getRecording',
			callId: calls.finished,
			recordingAs: 'file',
			outputField: 'recording',
		},
		requests: (dialect) => [read(calls.finished, '/recording'), fileOf(dialect)],
		output: ({ calls: { recordingHeaders } }) => [
			{
				call_id: calls.finished,
				// By the file name, if the header has no type of sound.
				mime_type: recordingHeaders['content-type']?.replace(/^application.*/, 'audio/ogg'),
				file_name: expect.stringMatching(/./),
			},
		],
		verify: ({ requests }, [item]) => {
			expect(item?.binary?.recording?.data).not.toBe('');
			expect(requests.at(-1)?.headers).not.toHaveProperty('api-token');
		},
	},
];
