import { dialects, fixtures, startSimulator, type Simulator } from '.';
import { call } from './testing/api';
import { connect, minted, opened, type SocketClient } from './testing/socketClient';

const session = fixtures.sessions.open;

describe.each(Object.values(dialects))('the session socket, dialect $name', (dialect) => {
	let sim: Simulator;
	beforeAll(async () => {
		sim = await startSimulator({ dialect, asyncReplyMs: 20 });
	});
	beforeEach(() => sim.reset());
	afterAll(async () => await sim.stop());

	const say = async (client: SocketClient, content: string, rest: object = {}) => {
		client.send({ type: 'message', content, ...rest });
		return await client.ack();
	};

	it('keeps a query of its own in ws_url and refuses an address that lost it', async () => {
		const { url, token } = await minted(sim, session);
		expect(new URL(url).search.slice(1)).toBe(dialect.socket.urlQuery);
		const bare = await connect(url.split('?')[0] ?? '', { token, client_id: 'a' });
		expect(bare.ws.readyState === bare.ws.OPEN).toBe(dialect.socket.urlQuery === '');
	});

	it('answers a message with one ack and tells both messages', async () => {
		const client = await opened(sim, session);
		const ack = await say(client, 'Hello', { message_id: 'mine-1' });
		expect(ack).toMatchObject({
			state: 'default',
			reply: 'You said: Hello',
			mode: 'ai',
			help_requested: false,
		});
		expect(ack.message_id === 'mine-1').toBe(dialect.chat.echoesMessageId);
		await client.until(() => client.types().filter((t) => t === 'message_received').length === 2);
		expect(sim.sessions.frames(session)).toHaveLength(1);
	});

	it('leaves message_id out of the ack where none was supplied', async () => {
		const client = await opened(sim, session);
		expect(await say(client, 'Hello')).not.toHaveProperty('message_id');
	});

	it('puts the ack before or after its events, as the dialect does', async () => {
		const client = await opened(sim, session);
		client.send({ content: 'Hello' });
		await client.until(() => client.types().length >= 3);
		const place = client.types().indexOf('ws_write_result');
		expect(place === 0).toBe(dialect.socket.ackBeforeEvents);
	});

	it.each([
		['{oops', 'bad_json'],
		['[1]', 'bad_payload'],
		[{ content: 5 }, 'bad_payload'],
		[{ content: 'x', message_id: 5 }, 'bad_payload'],
		[{ content: 'x', idempotency_key: '' }, 'bad_payload'],
		[{ type: 'message' }, 'message_required'],
		[{ type: 'message', content: ' ' }, 'message_required'],
		[{ type: 'dance', content: 'x' }, 'invalid_input_type'],
		[{ type: 'interaction_response', option_id: 'yes' }, 'bad_payload'],
		[
			{ type: 'interaction_response', interaction_id: 'none', option_id: 'yes' },
			'invalid_interaction',
		],
		[{ content: 'please be invalid: agent_inactive' }, 'agent_inactive'],
	])('answers %j with invalid: %s', async (frame, error) => {
		const client = await opened(sim, session);
		client.send(frame);
		expect(await client.ack()).toMatchObject({ state: 'invalid', error });
	});

	it('refuses a session of another account and an agent switched off', async () => {
		const client = await opened(sim, session);
		sim.sessions.get(session).accountId = 1;
		expect(await say(client, 'x')).toMatchObject({ error: 'session_account_mismatch' });
		sim.sessions.get(session).accountId = sim.state.accountId;
		const agent = sim.state.agents.get(fixtures.agents.full);
		if (agent) agent.active = false;
		expect(await say(client, 'x')).toMatchObject({ error: 'agent_inactive' });
	});

	it('replays a turn under its idempotency key and guards the key', async () => {
		const client = await opened(sim, session);
		const first = await say(client, 'once', { idempotency_key: 'k1' });
		const again = await say(client, 'once', { idempotency_key: 'k1' });
		expect(again).toEqual({ ...first, state: 'accepted' });
		expect(await say(client, 'other', { idempotency_key: 'k1' })).toEqual({
			state: 'invalid',
			error: 'idempotency_key_reused',
		});
		const names = dialect.chat.inbound;
		const rest = await call(sim, 'POST', '/v1/chat/inbound', {
			[names.session]: session,
			[names.message]: 'once',
			idempotency_key: 'k1',
		});
		expect(rest).toMatchObject({
			status: dialect.statuses.keyReused,
			body: { error: 'idempotency_key_rail_conflict' },
		});
		expect(sim.sessions.get(session).messages.filter(({ role }) => role === 'user')).toHaveLength(
			1,
		);
	});

	it('is busy once, and always when asked to', async () => {
		const client = await opened(sim, session);
		expect(await say(client, 'please be busy 1')).toEqual({ state: 'busy', error: 'server_busy' });
		expect(await say(client, 'please be busy 1')).toMatchObject({ state: 'default' });
		await say(client, 'please stay busy');
		expect(await say(client, 'please stay busy')).toMatchObject({ state: 'busy' });
	});

	it('merges what comes during a slow turn and reports it by turn_result', async () => {
		const client = await opened(sim, session);
		client.send({ content: 'please answer slowly' });
		client.send({ content: 'and this too' });
		const merged = await client.ack();
		const slow = await client.ack();
		expect(merged).toMatchObject({ state: 'merged', merged_into: slow.turn_id });
		expect(slow.reply).toBe('You said: please answer slowly / and this too');
		expect(await client.event('turn_result')).toMatchObject({ payload: { error: null } });
	});

	it('merges into a turn of someone else, whose text comes where the dialect puts it', async () => {
		const client = await opened(sim, session);
		const ack = await say(client, 'please merge this');
		expect(ack).toMatchObject({ state: 'merged', merged_into: expect.any(String) });
		const result = await client.event('turn_result');
		const named = dialect.socket.mergedResult === 'target' ? 'turn_id' : 'merged_into';
		expect(result).toMatchObject({ payload: { [named]: ack.merged_into } });
		await new Promise((resolve) => setTimeout(resolve, 30));
		const texts = client.seen.flatMap((frame, at) =>
			JSON.stringify(frame).includes('"role":"ai"') ? [at] : [],
		);
		const place = client.seen.indexOf(result);
		const order = texts.map((at) => (at < place ? 'before' : 'after'))[0] ?? 'nowhere';
		expect(order).toBe(dialect.socket.replyText);
	});

	it('shows buttons and takes the answer once', async () => {
		const client = await opened(sim, session);
		await say(client, 'please show buttons');
		const [interaction] = sim.sessions.get(session).interactions.keys();
		const answer = { type: 'interaction_response', interaction_id: interaction };
		client.send({ ...answer, option_id: 'maybe' });
		expect(await client.ack()).toMatchObject({ error: 'invalid_interaction' });
		client.send({ ...answer, option_id: 'yes' });
		expect(await client.ack()).toMatchObject({ state: 'default', reply: 'You said: yes' });
		client.send({ ...answer, option_id: 'yes' });
		expect(await client.ack()).toMatchObject({ error: 'invalid_interaction' });
	});

	it.each([
		['no token', {}, 4401],
		['an unknown token', { token: 'nope' }, 4401],
	])('closes a socket with %s', async (_what, parameters, code) => {
		const { url } = await minted(sim, session);
		const client = await connect(url, { ...parameters, client_id: 'a' });
		expect((await client.untilClosed()).code).toBe(code);
	});

	it('closes a socket whose token has expired or belongs to another session', async () => {
		const { url, token } = await minted(sim, session);
		const other = await connect(url.replace(session, fixtures.sessions.dormant), { token });
		expect((await other.untilClosed()).code).toBe(1008);
		sim.clock.advance(300_001);
		const late = await connect(url, { token });
		expect((await late.untilClosed()).code).toBe(4401);
	});

	it('closes 1008 for an inactive agent and 1003 for a binary frame', async () => {
		expect((await (await opened(sim, fixtures.sessions.inactiveAgent)).untilClosed()).code).toBe(
			1008,
		);
		const client = await opened(sim, session);
		client.send(Buffer.from('{}'));
		expect((await client.untilClosed()).code).toBe(1003);
	});

	it('holds a session for one client_id until another claims it', async () => {
		const first = await opened(sim, session, 'one');
		const second = await opened(sim, session, 'two');
		expect(await second.untilClosed()).toEqual({
			code: 1008,
			reason: dialect.socket.closeReason('claim_conflict'),
		});
		await opened(sim, session, 'two', '1');
		expect((await first.untilClosed()).code).toBe(dialect.socket.takeOverCode);
		expect(sim.sessions.clientIds(session)).toEqual(['two']);
	});

	it('lets the same client_id in twice as the dialect does', async () => {
		await opened(sim, session, 'one');
		await opened(sim, session, 'one');
		const both = dialect.socket.sameClientTwice === 'both';
		expect(sim.sessions.openSockets(session)).toBe(both ? 2 : 1);
	});

	it('replays recent events with the same event_id to a client that comes back', async () => {
		const first = await opened(sim, session, 'one');
		const id = sim.sessions.pushEvent(session, 'nudge_sent', { idle_seconds: 60 });
		await first.event('nudge_sent');
		sim.sessions.cutSockets(session);
		expect((await first.untilClosed()).code).toBe(1006);
		const missed = sim.sessions.pushEvent(session, 'auto_resume_fired', {});
		const back = await opened(sim, session, 'one');
		expect((await back.event('nudge_sent')).event_id).toBe(id);
		expect((await back.event('auto_resume_fired')).event_id).toBe(missed);
	});

	it('forgets events outside the window', async () => {
		const first = await opened(sim, session, 'one');
		sim.sessions.pushEvent(session, 'nudge_sent');
		await first.event('nudge_sent');
		sim.clock.advance(dialect.socket.replay.windowMs + 1);
		const back = await opened(sim, session, 'one', '1');
		sim.sessions.pushEvent(session, 'mode_changed', { to: 'ai' });
		await back.event('mode_changed');
		expect(back.types()).not.toContain('nudge_sent');
	});

	it('ends an open socket with its token only where the dialect ties them', async () => {
		const client = await opened(sim, session);
		sim.sessions.expireTokens();
		if (dialect.socket.socketEndsWithToken) {
			expect((await client.untilClosed()).code).toBe(4401);
		} else {
			expect(await say(client, 'still here')).toMatchObject({ state: 'default' });
		}
	});

	it('drops a connection silently: still standing, nothing arrives', async () => {
		const client = await opened(sim, session);
		expect(sim.sessions.dropSilently(session)).toBe(1);
		sim.sessions.pushEvent(session, 'nudge_sent');
		await new Promise((resolve) => setTimeout(resolve, 20));
		expect(client.closed).toBeNull();
		expect(client.seen).toEqual([]);
		expect([sim.sessions.openSockets(), sim.sessions.standingSockets()]).toEqual([0, 1]);
	});

	it('sends garbage, breaks before the ack, or never acks when asked to', async () => {
		const client = await opened(sim, session);
		await say(client, 'please send garbage');
		expect(client.raw.some((frame) => Buffer.isBuffer(frame))).toBe(true);
		expect(client.raw).toContain('this is not JSON');
		client.send({ content: 'please never ack' });
		client.send({ content: 'please drop me' });
		expect((await client.untilClosed()).code).toBe(1006);
		const heard = sim.sessions.get(session).messages.map(({ content }) => content);
		expect(heard).toEqual(expect.arrayContaining(['please never ack', 'please drop me']));
	});

	it('goes dormant, comes back with a message, and closes', async () => {
		const client = await opened(sim, fixtures.sessions.dormant);
		await say(client, 'I am back');
		expect(await client.event('session_reactivated')).toMatchObject({
			payload: { reason: dialect.chat.reactivatedReason },
		});
		sim.sessions.goDormant(fixtures.sessions.dormant);
		expect(await client.event('session_dormant')).toMatchObject({
			payload: { reason: 'inactivity' },
		});
		sim.sessions.close(fixtures.sessions.dormant);
		expect(await client.event('session_closed')).toMatchObject({ payload: {} });
		if (dialect.socket.afterClosed === 'closes') {
			expect((await client.untilClosed()).code).toBe(1000);
		}
	});

	it('can refuse or cut the upgrade itself', async () => {
		sim.faults.inject({ kind: 'status', status: 503, times: 1, match: { path: /user-stream$/ } });
		const refused = await opened(sim, session);
		expect(refused.closed).toMatchObject({ code: 1006 });
		sim.faults.inject({ kind: 'resetBefore', times: 1, match: { path: /user-stream$/ } });
		expect((await opened(sim, session)).closed).toMatchObject({ code: 1006 });
		expect((await opened(sim, session)).closed).toBeNull();
	});
});
