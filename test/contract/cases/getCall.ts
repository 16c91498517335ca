import { fixtures, type Dialect, type Fault, type FaultKind } from '../../simulator';
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

const turn = (role: string, content: string) => ({ role, content, timestamp: expect.any(String) });

const talk = ({ calls: { customerRole } }: Dialect) => [
	turn('assistant', 'Hello, do you have a minute?'),
	turn(customerRole, 'Yes, go ahead.'),
	turn('assistant', 'Thank you. Goodbye.'),
];

const link = {
	call_id: calls.finished,
	recording_url: expect.stringMatching(/^http/),
	expires_in_seconds: 900,
	expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
};

/** Matches the URL path of the recording file in every dialect. */
const FILE = new RegExp(`^/(?!v1/).*/${calls.finished}$`);

const fileOf = (dialect: Dialect) =>
	`GET ${new URL(dialect.calls.recordingUrl('http://127.0.0.1', '')).pathname}/${calls.finished}`;

/** Responses of the storage without a complete file, the message of the node, and the number of attempts. */
const NO_RECORDING: Array<[string, Fault, string, number?]> = [
	[
		'a sign-in page',
		{ kind: 'html', status: 200 },
		'The link to the recording returned a web page',
	],
	[
		'nothing',
		{ kind: 'status', status: 204, body: '' },
		'The link to the recording returned HTTP status 204',
	],
	[
		'a part',
		{ kind: 'status', status: 206, body: 'RIFF' },
		'The link to the recording returned HTTP status 206',
	],
	[
		'no byte',
		{ kind: 'status', status: 200, body: '' },
		'The link to the recording returned an empty file',
	],
	['a rejection', { kind: 'successFalseAt200' }, 'The link to the recording returned JSON'],
	[
		'a body that breaks off',
		{ kind: 'resetMiddle' },
		"The recording couldn't be downloaded completely",
	],
	['itself as another link', { kind: 'redirectLoop' }, 'The link to the recording was redirected'],
	[
		'a rejection of 1 GB',
		{ kind: 'hugeBody' },
		'The link to the recording has expired or was rejected',
	],
	[
		'a failure of 1 GB',
		{ kind: 'hugeBody', status: 503 },
		'The storage of the recording returned HTTP status',
		4,
	],
];

/** Faults after which the file may be incomplete. */
const UNPROVEN: FaultKind[] = ['cutGzip', 'cutWithoutLength'];

export const getCall: ContractCase[] = [
	{
		title: 'returns every field of the call record',
		parameters: { operation: 'get', callId: calls.finished, simplify: false },
		requests: [read(calls.finished)],
		output: [record],
	},
	{
		title: 'returns undocumented values unchanged',
		parameters: { operation: 'get', callId: calls.unusual, simplify: false },
		requests: [read(calls.unusual)],
		output: ({ calls: { unusual } }) => [
			{
				status: unusual.status,
				call_type: unusual.callType,
				channel: unusual.channel,
				call_ended_by: unusual.endedBy,
				call_ended_reason: unusual.endedReason,
			},
		],
	},
	{
		title: 'includes the transcript and the recording',
		parameters: {
			operation: 'get',
			callId: calls.finished,
			include: ['transcript', 'recording'],
		},
		requests: [
			read(calls.finished),
			read(calls.finished, '/transcript'),
			read(calls.finished, '/recording'),
		],
		output: (dialect) => [{ status: 'picked', transcript: talk(dialect), recording: link }],
	},
	{
		title: 'includes an empty transcript and no recording if there are none',
		parameters: {
			operation: 'get',
			callId: calls.notPicked,
			include: ['transcript', 'recording'],
		},
		requests: [
			read(calls.notPicked),
			read(calls.notPicked, '/transcript'),
			read(calls.notPicked, '/recording'),
		],
		output: [{ status: 'not_picked', transcript: [], recording: null }],
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
		title: 'returns the transcript as a list and as text',
		parameters: { operation: 'getTranscript', callId: calls.finished },
		requests: [read(calls.finished, '/transcript')],
		output: (dialect) => [
			{
				call_id: calls.finished,
				transcript: talk(dialect),
				transcript_text: [
					'assistant: Hello, do you have a minute?',
					`${dialect.calls.customerRole}: Yes, go ahead.`,
					'assistant: Thank you. Goodbye.',
				].join('\n'),
			},
		],
	},
	{
		title: 'returns an empty transcript for a call that nobody answered',
		parameters: { operation: 'getTranscript', callId: calls.notPicked },
		requests: [read(calls.notPicked, '/transcript')],
		output: [{ transcript: [], transcript_text: '' }],
	},
	{
		title: 'returns a link to the recording and when it expires',
		parameters: { operation: 'getRecording', callId: calls.finished },
		requests: [read(calls.finished, '/recording')],
		output: [link],
	},
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
		output: ({ name }) => [
			{
				call_id: calls.finished,
				mime_type:
					{ plain: 'audio/wav', terse: 'audio/mpeg', wrapped: 'audio/ogg' }[name] ?? 'audio/wav',
				file_name: expect.stringMatching(/./),
				file_complete: true,
			},
		],
		verify: ({ requests }, [item]) => {
			expect(item?.binary?.recording?.data).not.toBe('');
			expect(requests.at(-1)?.headers).not.toHaveProperty('api-token');
		},
	},
	...NO_RECORDING.map(
		([description, fault, rejection, attempts = 1]): ContractCase => ({
			title: `saves no file if the storage sends ${description}`,
			parameters: { operation: 'getRecording', callId: calls.finished, recordingAs: 'file' },
			prepare: ({ faults }) => faults.inject({ ...fault, match: { path: FILE } }),
			requests: (dialect) => [
				read(calls.finished, '/recording'),
				...Array<string>(attempts).fill(fileOf(dialect)),
			],
			rejection,
			verify: ({ requests }) => {
				for (const { outcome } of requests) {
					expect(outcome.writtenBytes ?? 0).toBeLessThan(20_000_000);
				}
			},
		}),
	),
	...UNPROVEN.map(
		(kind): ContractCase => ({
			title: `does not report a recording as complete without proof: ${kind}`,
			parameters: { operation: 'getRecording', callId: calls.finished, recordingAs: 'file' },
			prepare: ({ faults }) => faults.inject({ kind, match: { path: FILE } }),
			requests: (dialect) => [read(calls.finished, '/recording'), fileOf(dialect)],
			output: [{ call_id: calls.finished, file_complete: null }],
		}),
	),
	{
		title: 'reads only the beginning of a rejection of 1 GB',
		parameters: { operation: 'get', callId: calls.finished },
		prepare: ({ faults }) =>
			faults.inject({ kind: 'hugeBody', match: { path: `/v1/call/${calls.finished}` } }),
		requests: [read(calls.finished)],
		rejection: 'A proxy or firewall may have responded instead of the service (HTTP status 403)',
		verify: ({ requests }) => {
			expect(requests[0]?.outcome.writtenBytes).toBeLessThan(30_000_000);
		},
	},
];
