import { fixtures, type Dialect } from '../../simulator';
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

export const getCall: ContractCase[] = [
	{
		title: 'gives every field of the call record',
		parameters: { operation: 'get', callId: calls.finished, simplify: false },
		requests: [read(calls.finished)],
		output: [record],
	},
	{
		title: 'gives values that the document does not name as they are',
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
		title: 'includes transcript and recording',
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
		title: 'includes an empty transcript and no recording where there is none',
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
			title: `${operation}: recognizes an unknown call at any status`,
			parameters: { operation, callId: UNKNOWN },
			requests: [read(UNKNOWN, ['', '/transcript', '/recording'][index])],
			refusal: 'The service does not know this call',
		}),
	),
	{
		title: 'gives the transcript, as text too',
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
		title: 'gives the empty transcript of a call that nobody answered',
		parameters: { operation: 'getTranscript', callId: calls.notPicked },
		requests: [read(calls.notPicked, '/transcript')],
		output: [{ transcript: [], transcript_text: '' }],
	},
	{
		title: 'gives a link to the recording and until when it is valid',
		parameters: { operation: 'getRecording', callId: calls.finished },
		requests: [read(calls.finished, '/recording')],
		output: [link],
	},
	{
		title: 'recognizes that there is no recording, at any status',
		parameters: { operation: 'getRecording', callId: calls.noRecording },
		requests: [read(calls.noRecording, '/recording')],
		refusal: 'This call has no recording',
	},
	{
		title: 'downloads the recording without the token, named and typed as the answer says',
		parameters: {
			operation: 'getRecording',
			callId: calls.finished,
			recordingAs: 'file',
			outputField: 'recording',
		},
		requests: (dialect) => [
			read(calls.finished, '/recording'),
			`GET ${new URL(dialect.calls.recordingUrl('http://127.0.0.1', '')).pathname}/${calls.finished}`,
		],
		output: ({ name }) => [
			{
				call_id: calls.finished,
				mime_type:
					{ plain: 'audio/wav', terse: 'audio/mpeg', wrapped: 'audio/ogg' }[name] ?? 'audio/wav',
				file_name: expect.stringMatching(/./),
				file_complete: true,
			},
		],
		then: ({ requests }, [item]) => {
			expect(item?.binary?.recording?.data).not.toBe('');
			expect(requests.at(-1)?.headers).not.toHaveProperty('api-token');
		},
	},
];
