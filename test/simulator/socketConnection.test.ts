import { dialects, fixtures, startSimulator, type Simulator } from '.';
import { connect, minted, opened } from './testing/socketClient';

const session = fixtures.sessions.open;

describe.each(Object.values(dialects))(
	'connecting the session socket, dialect $name',
	(dialect) => {
		let sim: Simulator;
		beforeAll(async () => {
			sim = await startSimulator({ dialect });
		});
		beforeEach(() => sim.reset());
		afterAll(async () => await sim.stop());

		it('has its own query in ws_url, and rejects a URL without it', async () => {
			const { url, token } = await minted(sim, session);
			expect(new URL(url).search.slice(1)).toBe(dialect.socket.urlQuery);
			const bare = await connect(url.split('?')[0] ?? '', { token, client_id: 'a' });
			expect(bare.ws.readyState === bare.ws.OPEN).toBe(dialect.socket.urlQuery === '');
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

		it('accepts one client_id per session until another one claims it', async () => {
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

		it('handles two sockets of one client_id like the dialect', async () => {
			await opened(sim, session, 'one');
			await opened(sim, session, 'one');
			const both = dialect.socket.sameClientTwice === 'both';
			expect(sim.sessions.openSockets(session)).toBe(both ? 2 : 1);
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

		it('closes an open socket with its token only in dialects that do so', async () => {
			const client = await opened(sim, session);
			sim.sessions.expireTokens();
			if (dialect.socket.socketEndsWithToken) {
				expect((await client.untilClosed()).code).toBe(4401);
			} else {
				client.send({ content: 'still here' });
				expect(await client.ack()).toMatchObject({ state: 'default' });
			}
		});
	},
);
