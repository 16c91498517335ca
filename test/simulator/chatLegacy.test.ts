import { dialects, fixtures, startSimulator } from '.';
import { call } from './testing/api';

const agent_uuid = fixtures.agents.full;
const closing = `/chat_sessions/${fixtures.sessions.open}/close_session`;

describe.each(Object.values(dialects))('legacy chat endpoints, dialect $name', (dialect) => {
	it('are marked as deprecated like in the dialect, and list validation errors', async () => {
		const sim = await startSimulator({ dialect });
		for (const [path, body] of [
			['/chat_sessions', {}],
			['/chat_messages/send_message', { agent_uuid }],
			[closing, {}],
		] as const) {
			expect(await call(sim, 'POST', path, body)).toMatchObject({
				status: 422,
				body: { success: false, errors: expect.any(Array) },
			});
		}
		const { headers } = await call(sim, 'POST', closing, { agent_uuid });
		for (const [name, value] of Object.entries(dialect.general.legacyHeaders)) {
			expect(headers.get(name)).toBe(value);
		}
		await sim.stop();
	});
});
