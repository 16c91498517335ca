import { dialects, fixtures, startSimulator, type Simulator } from '.';
import { call } from './testing/api';

const { open } = fixtures.sessions;
const agent_uuid = fixtures.agents.full;

describe.each(Object.values(dialects))('legacy chat endpoints, dialect $name', (dialect) => {
	let sim: Simulator;
	beforeAll(async () => {
		sim = await startSimulator({ dialect });
	});
	beforeEach(() => sim.reset());
	afterAll(async () => await sim.stop());

	const post = async (path: string, body: unknown) => await call(sim, 'POST', path, body);

	it('still serves the legacy endpoints', async () => {
		const created = await post('/chat_sessions', { agent_uuid, metadata: { person_name: 'Asha' } });
		expect(created.data).toEqual({
			session_id: expect.any(String),
			agent_name: 'Sales India',
			started_at: expect.stringMatching(/^[\d-]+T[\d:.]+$/),
			welcome_message: 'Hello Asha, how can I help?',
		});
		const id = String(created.data.session_id);
		const originalMessage = await post('/chat_messages/send_message', {
			agent_uuid,
			chat_session_id: id,
			message: 'Hi',
		});
		expect(originalMessage.data).toEqual({
			session_id: id,
			response: 'You said: Hi',
			tool_calls: [],
			tool_results: [],
			current_state: null,
		});
		const paused = await post(`/chat_sessions/${id}/pause_session`, { agent_uuid });
		expect(paused.data).toEqual({ session_id: id, message: expect.any(String) });
		const ended = await post(`/chat_sessions/${id}/close_session`, { agent_uuid });
		expect(ended.data).toEqual({ session_id: id, summary: expect.any(String) });
		for (const [name, value] of Object.entries(dialect.general.legacyHeaders)) {
			expect(ended.headers.get(name)).toBe(value);
		}
	});

	it.each([
		['/chat_sessions', {}],
		['/chat_messages/send_message', { agent_uuid }],
		[`/chat_sessions/${open}/close_session`, {}],
	])('lists what is wrong with a legacy request to %s', async (path, body) => {
		const got = await post(path, body);
		expect(got).toMatchObject({ status: 422, body: { success: false, errors: expect.any(Array) } });
	});
});
