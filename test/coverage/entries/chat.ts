import { type SectionEntries, contract, inNode } from '../entry';

const send = contract('chatSend');
const session = contract('chatSession');
const events = contract('chatEvents');
const inject = contract('injectContext');
const mint = inNode('shared/chat/mint');

const inbound: SectionEntries[] = [
	{
		section: 'POST /v1/chat/inbound',
		every: {
			at: 'Chat Send → Request With Immediate Reply → output',
			test: send('by request: gives the immediate reply, wherever the answer holds it'),
		},
	},
	{
		section: 'POST /v1/chat/inbound/async',
		every: {
			at: 'Chat Send → Idempotency Key',
			test: send('by later reply: the same key and content counts once'),
		},
	},
	{
		section: 'Chat message',
		every: {
			at: 'Chat Session → Wait for Event → output',
			test: events("type: 'message_received'"),
		},
	},
];

const sessions: SectionEntries[] = [
	{
		section: 'Chat session',
		items: {
			'Inactivity period elapses': {
				at: 'Chat Session → Session Dormant → output',
				test: events("type: 'session_dormant'"),
			},
			'Next customer message': {
				at: 'Chat Send → Send Message',
				test: send('by WebSocket: wakes a dormant session'),
			},
			'Support command close (or legacy close endpoint)': {
				at: 'Chat Session → Close',
				test: [
					session("title: 'closes a session'"),
					session('legacy: closes a session and gives the summary'),
				],
			},
			'Legacy pause endpoint': {
				at: 'Chat Session → Legacy Pause (Deprecated)',
				test: session('legacy: pauses a session'),
			},
			'Switch between AI and human operator': {
				at: 'Chat Session → Switched Between AI and Human → output',
				test: events("type: 'mode_changed'"),
			},
		},
	},
	{
		section: 'POST /v1/chat/session/{id}/support',
		every: { at: 'Chat Session → Command', test: session("title: 'closes a session'") },
	},
	{
		section: 'POST /v1/chat/session/{id}/inject_context',
		every: {
			at: 'Inject Context → Context → output',
			test: inject('appends entries in the order of the items and returns the whole list'),
		},
		items: {
			success: {
				at: 'nodes/shared/api/errorTable.ts: the refusal is explained',
				test: inject('is turned down for a session of another account’s agent'),
			},
			error: {
				at: 'nodes/shared/api/errorTable.ts: the refusal is explained',
				test: inject('is turned down for a session of another account’s agent'),
			},
		},
	},
	{
		section: 'POST /v1/chat/session/{id}/ws_token',
		every: {
			at: 'nodes/shared/chat/mint.ts: asks for a token before each connection',
			test: [mint("it('returns the token'"), mint('asks for the stream user of the session')],
		},
		items: {
			expires_at: {
				at: 'nodes/shared/chat/token.ts: a new token is at hand before the old one ends',
				test: inNode('shared/chat/renewal')("['a short life is believed'"),
			},
		},
	},
];

const created = session('legacy: creates a session with a welcome message');
const answered = send('by legacy request: gives the whole answer');
const legacySend = (what: string) => ({
	at: `Chat Send → Legacy Request (Deprecated) → ${what}`,
	test: answered,
});

const legacy: SectionEntries = {
	section: 'Legacy chat endpoints',
	every: { at: 'Chat Session → Legacy Create (Deprecated) → output', test: created },
	items: {
		agent_uuid: 'Chat Session → Agent',
		metadata: 'Chat Session → Metadata',
		person_name: 'Chat Session → Person Name',
		response: legacySend('output'),
		tool_calls: legacySend('output'),
		tool_results: legacySend('output'),
		current_state: legacySend('output'),
		chat_session_id: legacySend('Session ID'),
		message: legacySend('Message'),
		summary: {
			at: 'Chat Session → Legacy Close (Deprecated) → output',
			test: session('legacy: closes a session and gives the summary'),
		},
	},
};

const frames = inNode('shared/chat/frames');
const frame = (label: string, row: string) => ({ at: `Chat Send → ${label}`, test: frames(row) });

const clientFrames: SectionEntries['items'] = {
	message: { at: 'Chat Send → Message', test: frames("['a message alone'") },
	'message: type': frame('Live Connection (WebSocket)', "['a message alone'"),
	'message: content': frame('Message', "['a message alone'"),
	'message: message_id': {
		at: 'Chat Send → Options → Message ID',
		test: inNode('ChatSend/socket')('a message ID of one’s own is sent and given back'),
	},
	'message: idempotency_key': {
		at: 'Chat Send → Idempotency Key',
		test: inNode('ChatSend/socket')('accepted: a replay, with the reply of the first time'),
	},
	'interaction response': {
		at: 'Chat Send → Answer Interaction',
		test: send('answers an interactive message with an option'),
	},
	'interaction response: type': frame('Answer Interaction', "'a choice'"),
	'interaction response: interaction_id': frame('Interaction ID', "'a choice'"),
	'interaction response: option_id': {
		at: 'Chat Send → Option ID',
		test: send('answers an interactive message with an option'),
	},
	'interaction response: response': {
		at: 'Chat Send → Response',
		test: send('answers an interactive message with free-form input'),
	},
	'interaction response: message_id': frame('Options → Message ID', "'free-form input'"),
	'interaction response: idempotency_key': frame('Idempotency Key', "'free-form input'"),
};

export { clientFrames };
export const chatEntries: SectionEntries[] = [...inbound, ...sessions, legacy];
