import { type SectionEntries, contract, inNode } from '../entry';
import { clientFrames } from './chat';

const socket = inNode('ChatSend/socket');
const events = contract('chatEvents');
const reconnecting = inNode('shared/chat/reconnecting');
const policy = inNode('shared/chat/closeCodes');
const realServer = inNode('shared/chat/realServer');

const LIVE = 'Chat Send → Live Connection (WebSocket) → output';
const WAIT = 'Chat Session → Wait for Event → Events';
const CONNECTION = 'nodes/shared/chat/connection.ts';
const CLOSE_CODES = 'nodes/shared/chat/closeCodes.ts';

const connecting: SectionEntries['items'] = {
	token: {
		at: 'nodes/shared/chat/address.ts: added to ws_url, whose own query stays',
		test: realServer('connects, sends a message as text, and gets the reply'),
	},
	client_id: {
		at: 'nodes/shared/chat/address.ts: added to ws_url; the same across reconnects',
		test: realServer('connects, sends a message as text, and gets the reply'),
	},
	claim: {
		at: 'Chat Send → Take Over',
		test: [
			inNode('shared/chat/address')('adds claim=1 only when asked'),
			socket('a session that another client holds: left to it, or taken over'),
		],
	},
};

const ackStates: SectionEntries['items'] = {
	default: { at: LIVE, test: socket('default: the reply') },
	accepted: { at: LIVE, test: socket('accepted: a replay, with the reply of the first time') },
	merged: {
		at: LIVE,
		test: [
			socket('merged: the reply from the messages, with the result'),
			contract('chatSend')('by WebSocket: waits for the result of a message that was merged'),
		],
	},
	busy: {
		at: 'nodes/shared/chat/turn.ts: tries again, then says that it was not sent',
		test: [
			socket('busy once: tried again, and taken once'),
			socket('busy all the time: surely not taken'),
		],
	},
	invalid: {
		at: 'nodes/ChatSend/turnFault.ts: says what was wrong',
		test: socket('invalid, %s: what is wrong and what to do'),
	},
	error: {
		at: 'nodes/ChatSend/turnFault.ts: nobody knows whether it was taken',
		test: socket('error: nobody knows whether it was taken'),
	},
};

const invalidCodes = Object.fromEntries(
	[
		'bad_json',
		'bad_payload',
		'message_required',
		'invalid_input_type',
		'agent_inactive',
		'session_account_mismatch',
		'idempotency_key_reused',
		'idempotency_key_rail_conflict',
		'invalid_interaction',
	].map((code) => [
		`invalid: ${code}`,
		{
			at: 'nodes/ChatSend/turnFault.ts: words of its own',
			test: [
				socket('invalid, %s: what is wrong and what to do'),
				inNode('ChatSend/turnFault')('has words of its own for each of the nine codes'),
			],
		},
	]),
);

const eventTypes = Object.fromEntries(
	[
		'message_received',
		'turn_result',
		'mode_changed',
		'session_closed',
		'session_dormant',
		'session_reactivated',
		'nudge_sent',
		'auto_resume_fired',
	].map((type) => [
		type,
		{
			at: WAIT,
			test: [
				events(`type: '${type}'`),
				inNode('ChatEventsTrigger/events')('each event comes out as its whole envelope'),
			],
		},
	]),
);

/** Fields of the events, and the event whose case asserts each. */
const payloads = Object.fromEntries(
	Object.entries({
		message_received: ['id', 'role', 'content', 'created_at'],
		turn_result: ['turn_id', 'message_id', 'state', 'merged_into'],
		mode_changed: ['to', 'active_human'],
		session_dormant: ['reason'],
		nudge_sent: ['idle_seconds'],
	}).flatMap(([type, names]) =>
		names.map((name) => [
			name,
			{ at: 'Chat Events Trigger → output: payload', test: events(`type: '${type}'`) },
		]),
	),
);

const envelope = Object.fromEntries(
	['type', 'session_id', 'account_id', 'payload', 'ts', 'event_id'].map((name) => [
		name,
		{
			at: 'Chat Events Trigger → output',
			test: inNode('ChatEventsTrigger/events')('each event comes out as its whole envelope'),
		},
	]),
);

const closing: SectionEntries['items'] = {
	'4401': {
		at: `${CLOSE_CODES}: a new token, then a new connection`,
		test: [
			policy("['4401', closed"),
			inNode('ChatEventsTrigger/events')('an expired token is replaced by a new one'),
		],
	},
	'1008': {
		at: `${CLOSE_CODES}: never the same token again; claim=1 with Take Over alone`,
		test: [
			reconnecting('never uses a token again that 1008 refused, and polls every 20 s'),
			inNode('ChatEventsTrigger/endings')('off: a session that another client holds is left to it'),
		],
	},
	'1003': {
		at: `${CLOSE_CODES}: text frames alone are sent; the connection stops`,
		test: reconnecting('stops at 1003'),
	},
	'1011': {
		at: `${CLOSE_CODES}: reconnects`,
		test: reconnecting('keeps client_id and token after 1011'),
	},
	'reconnect: back off exponentially (about 1, 2, 4, 8 seconds, capped at 30) and give up after a few attempts':
		{
			at: 'nodes/shared/chat/backoff.ts: the pauses between attempts',
			test: reconnecting('follows 1, 2, 4, 8, 16, 30 s and then tells once'),
		},
	'reconnect: mint a new token before the 5-minute expiry': {
		at: 'nodes/shared/chat/token.ts: renews ahead of time',
		test: inNode('shared/chat/renewal')('has a new token at hand before the old one ends'),
	},
	'reconnect: reuse the same `client_id` across reconnects': {
		at: `${CONNECTION}: one client_id for its whole life`,
		test: inNode('ChatEventsTrigger/events')('a broken connection comes back as the same client'),
	},
	'reconnect: when the agent is inactive (`1008`), poll slowly (about every 20 seconds)': {
		at: `${CLOSE_CODES}: slow polls`,
		test: reconnecting('never uses a token again that 1008 refused, and polls every 20 s'),
	},
};

export const socketEntries: SectionEntries[] = [
	{
		section: 'Chat WebSocket',
		items: {
			...connecting,
			...clientFrames,
			...ackStates,
			...eventTypes,
			...payloads,
			...envelope,
			...invalidCodes,
			...closing,
		},
	},
];
