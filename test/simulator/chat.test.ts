import { dialects, fixtures, startSimulator, type Simulator } from '.';
import type { JsonObject } from './json';
import { call, sent } from './testing/api';
import { opened } from './testing/socketClient';

const { open, closed, dormant, unknown } = fixtures.sessions;

describe.each(Object.values(dialects))('chat over REST, dialect $name', (dialect) => {
	let sim: Simulator;
	beforeAll(async () => {
		sim = await startSimulator({ dialect });
	});
	beforeEach(() => sim.reset());
	afterAll(async () => await sim.stop());

	const post = async (path: string, body: unknown) => await call(sim, 'POST', path, body);
	const onSession = async (part: string, body: unknown, id: string = open) =>
		await post(`/v1/chat/session/${id}/${part}`, body);
	/** Sends each value in the place of the dialect. */
	const say = async (path: string, values: JsonObject) => {
		const { query, body } = sent(values, dialect.chat.inQuery);
		return await post(`${path}${query}`, body);
	};
	const inbound = async (message: string, rest: JsonObject = {}) => {
		const names = dialect.chat.inbound;
		return await say('/v1/chat/inbound', {
			[names.session]: open,
			[names.message]: message,
			...rest,
		});
	};

	it('rejects an empty, a missing, and an overlong message', async () => {
		for (const message of ['', 'x'.repeat(dialect.general.maxMessage + 1)]) {
			expect((await inbound(message)).status).toBe(dialect.validation.status);
		}
	});

	it('rejects messages with a busy engine, a closed session, or an unknown one', async () => {
		expect(await inbound('please stay busy')).toMatchObject({
			status: dialect.statuses.busy,
			body: { success: false, error: 'server_busy' },
		});
		const names = dialect.chat.inbound;
		expect((await inbound('x', { [names.session]: closed })).body).toMatchObject({
			success: false,
			error: dialect.chat.closedText,
		});
		expect(await inbound('x', { [names.session]: unknown })).toMatchObject({
			status: dialect.statuses.sessionNotFound,
			body: { success: false, error: dialect.chat.unknownSession },
		});
	});

	it('takes over, hands back, and relays rejections', async () => {
		const { commands } = dialect.chat;
		const client = await opened(sim, open);
		const taken = await onSession('support', { command: commands.takeOver });
		expect(taken.body).toEqual(dialect.chat.supportBody(commands.takeOver, sim.sessions.get(open)));
		expect(await client.event('mode_changed')).toMatchObject({ payload: { to: 'support' } });
		expect(findTurn((await inbound('Anyone?')).body).reply).toBeNull();
		expect(
			await onSession('support', { command: commands.tell, [commands.text]: 'x' }),
		).toMatchObject({
			status: dialect.statuses.relayedRejection,
			body: {
				success: false,
				error: expect.stringContaining(commands.tell),
				upstream_body: { state: 'rejected', reason: 'tell_not_allowed_during_takeover' },
			},
		});
		await onSession('support', { command: commands.say, [commands.text]: 'Here I am' });
		expect(sim.sessions.get(open).messages.at(-1)?.content).toBe('Here I am');
		await onSession('support', { command: commands.release });
		expect(sim.sessions.get(open).mode).toBe('ai');
		expect((await onSession('support', { command: 'juggle' })).status).toBe(
			dialect.validation.status,
		);
	});

	it.each(['', '  ', 5, ['x'], undefined])('rejects the context %j', async (context) => {
		const { status } = await onSession('inject_context', { context });
		expect(status).toBe(dialect.validation.status);
	});

	it("mints tokens for the user stream of a session that isn't closed", async () => {
		const { data } = await onSession('ws_token', { stream: 'user' }, dormant);
		expect(data).toEqual({
			token: expect.any(String),
			ws_url: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+\/v1\/chat\/session\/.+\/user-stream/),
			expires_at: expect.any(Number),
			stream: 'user',
		});
		expect(Number(data.expires_at) - Date.now() / 1000).toBeGreaterThan(298);
		for (const stream of ['support', '', undefined]) {
			expect((await onSession('ws_token', { stream })).status).toBe(403);
		}
		expect(await onSession('ws_token', { stream: 'user' }, closed)).toMatchObject({
			status: 409,
			body: { success: false, error: 'session_closed' },
		});
	});
});

/** The object with the turn, at the place of the dialect. */
function findTurn(value: unknown): JsonObject {
	if (typeof value !== 'object' || value === null) return {};
	if ('turn_id' in value) return { ...value };
	return (
		Object.values(value)
			.map(findTurn)
			.find((turn) => 'turn_id' in turn) ?? {}
	);
}
