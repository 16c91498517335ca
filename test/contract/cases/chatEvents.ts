import { call, sent } from '../../simulator/testing/api';
import { fixtures, type Simulator } from '../../simulator';
import { connectRequests, onceConnected } from '../chat';
import { perDialect, type ContractCase, type PerDialect } from '../contractCase';

const { open, dormant } = fixtures.sessions;

type ExpectedEvent = {
	type: string;
	/** Makes the service send the event. */
	trigger: (simulator: Simulator) => unknown;
	payload: PerDialect<object>;
	session?: string;
	/** Requests that `trigger` sends. */
	requests?: string[];
	closes?: boolean;
};

/** Every documented event, with its documented payload. */
const expectedEvents: ExpectedEvent[] = [
	{
		type: 'message_received',
		trigger: async (simulator) => await sendAsCustomer(simulator),
		payload: {
			id: expect.anything(),
			type: 'message',
			role: 'user',
			content: 'Hello',
			created_at: expect.any(String),
		},
		requests: ['POST /v1/chat/inbound/async'],
	},
	{
		type: 'turn_result',
		trigger: async (simulator) => await sendAsCustomer(simulator),
		payload: ({ socket }) => ({
			turn_id: expect.anything(),
			message_id: expect.anything(),
			state: socket.resultState,
			merged_into: null,
			error: null,
		}),
		requests: ['POST /v1/chat/inbound/async'],
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
		closes: true,
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

function waitFor({
	type,
	trigger,
	payload,
	session = open,
	requests = [],
	closes,
}: ExpectedEvent): ContractCase {
	return {
		title: `waits for the event ${type}`,
		parameters: { operation: 'waitForEvent', sessionId: session, eventTypes: [type] },
		prepare: (simulator) => onceConnected(simulator, session, () => trigger(simulator)),
		requests: [...connectRequests(session), ...requests],
		output: [
			{
				session_id: session,
				timed_out: false,
				session_closed: closes === true,
				event: {
					type,
					session_id: session,
					account_id: expect.anything(),
					ts: expect.anything(),
					event_id: expect.anything(),
				},
			},
		],
		verify: ({ dialect }, [item]) =>
			expect(item?.json.event).toMatchObject({ payload: perDialect(payload, dialect) }),
	};
}

/** Chat Session → Wait for Event. */
export const chatEvents: ContractCase[] = [
	...expectedEvents.map(waitFor),
	{
		title: 'returns earlier events together with the one it waits for',
		parameters: { operation: 'waitForEvent', sessionId: open, eventTypes: ['nudge_sent'] },
		prepare: (simulator) =>
			onceConnected(simulator, open, () => {
				simulator.sessions.setMode(open, 'support');
				simulator.sessions.setMode(open, 'ai');
				simulator.sessions.nudge(open);
			}),
		requests: connectRequests(open),
		output: [
			{
				event: { type: 'nudge_sent' },
				seen: [{ payload: { to: 'support' } }, { payload: { to: 'ai' } }],
			},
		],
	},
];
