import { call, sent } from '../simulator/testing/api';
import { fixtures, type Simulator } from '../simulator';
import type { PerDialect } from './contractCase';

const { open, dormant } = fixtures.sessions;

const ANYTHING: unknown = expect.anything();
const ANY_TEXT: unknown = expect.any(String);

type ExpectedEvent = {
	type: string;
	/** Makes the service send the event. */
	trigger: (simulator: Simulator) => unknown;
	payload: PerDialect<object>;
	session?: string;
};

/** Every documented event, with its documented payload. */
export const expectedEvents: ExpectedEvent[] = [
	{
		type: 'message_received',
		trigger: async (simulator) => await sendAsCustomer(simulator),
		payload: {
			id: ANYTHING,
			type: 'message',
			role: 'user',
			content: 'Hello',
			created_at: ANY_TEXT,
		},
	},
	{
		type: 'turn_result',
		trigger: async (simulator) => await sendAsCustomer(simulator),
		payload: ({ socket }) => ({
			turn_id: ANYTHING,
			message_id: ANYTHING,
			state: socket.resultState,
			merged_into: null,
			error: null,
		}),
	},
	{
		type: 'mode_changed',
		trigger: ({ sessions }) => sessions.setMode(open, 'support'),
		payload: ({ socket }) => ({ to: 'support', active_human: socket.activeHuman }),
	},
	{
		type: 'session_closed',
		trigger: ({ sessions }) => sessions.close(open),
		payload: {},
	},
	{
		type: 'session_dormant',
		trigger: ({ sessions }) => sessions.goDormant(open),
		payload: { reason: 'inactivity' },
	},
	{
		type: 'session_reactivated',
		trigger: ({ sessions }) => sessions.reactivate(dormant),
		payload: ({ socket }) => ({ reason: socket.reactivatedReason }),
		session: dormant,
	},
	{
		type: 'nudge_sent',
		trigger: ({ sessions }) => sessions.nudge(open, 75),
		payload: { idle_seconds: 75 },
	},
	{
		type: 'auto_resume_fired',
		trigger: ({ sessions }) => sessions.autoResume(open, 120),
		payload: ({ socket }) => ({ idle_seconds: 120, reason: socket.resumedReason }),
	},
];

async function sendAsCustomer(simulator: Simulator) {
	const { async: fields } = simulator.dialect.chat;
	const { query, body } = sent([
		[fields.session, open],
		[fields.message, 'Hello'],
	]);
	await call(simulator, 'POST', `/v1/chat/inbound/async${query}`, body);
}
