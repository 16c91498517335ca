import { dialects, fixtures, startSimulator, type Simulator } from '.';
import { untilIdle } from '../n8n/until';
import type { JsonObject } from './json';
import { call, sent } from './testing/api';
import { opened, type SocketClient } from './testing/socketClient';

const session = fixtures.sessions.open;

describe.each(Object.values(dialects))(
	'turns over the session socket, dialect $name',
	(dialect) => {
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

		it('sends one ack for a message, and events for both messages', async () => {
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
		])('responds to %j with invalid: %s', async (frame, error) => {
			const client = await opened(sim, session);
			client.send(frame);
			expect(await client.ack()).toMatchObject({ state: 'invalid', error });
		});

		it('rejects a session of another account and an agent switched off', async () => {
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
			const values = { [names.session]: session, [names.message]: 'once', idempotency_key: 'k1' };
			const { query, body } = sent(values, dialect.chat.inQuery);
			const rest = await call(sim, 'POST', `/v1/chat/inbound${query}`, body);
			expect(rest).toMatchObject({
				status: dialect.statuses.keyReused,
				body: { error: 'idempotency_key_rail_conflict' },
			});
			expect(sim.sessions.get(session).messages.filter(({ role }) => role === 'user')).toHaveLength(
				1,
			);
		});

		it("merges into another client's turn, and returns its text in the field of the dialect", async () => {
			const client = await opened(sim, session);
			const ack = await say(client, 'please merge this');
			expect(ack).toMatchObject({ state: 'merged', merged_into: expect.any(String) });
			const result = await client.event('turn_result');
			const named = dialect.socket.mergedResult === 'target' ? 'turn_id' : 'merged_into';
			expect(result).toMatchObject({ payload: { [named]: ack.merged_into } });
			const isText = (frame: JsonObject) => JSON.stringify(frame).includes('"role":"ai"');
			if (dialect.socket.replyText === 'after') await client.until(() => client.seen.find(isText));
			else await untilIdle();
			const texts = client.seen.flatMap((frame, at) => (isText(frame) ? [at] : []));
			const place = client.seen.indexOf(result);
			const order = texts.map((at) => (at < place ? 'before' : 'after'))[0] ?? 'nowhere';
			expect(order).toBe(dialect.socket.replyText);
		});
	},
);
