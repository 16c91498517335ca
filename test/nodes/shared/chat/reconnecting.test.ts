import { freshToken, chatConnectionHarness, settle } from './fakes';

describe('reconnecting', () => {
	it.each([
		[0, 800],
		[1, 1_200],
	])('adds jitter: random %d, %d ms', async (random, ms) => {
		const { connection, sockets, socket, clock } = chatConnectionHarness({ random: () => random });
		connection.start();
		await settle();
		socket().breaks();
		await clock.advance(ms - 1);
		expect(sockets).toHaveLength(1);
		await clock.advance(1);
		expect(sockets).toHaveLength(2);
	});

	it('keeps client_id and token after 1011, and uses a new token after 4401', async () => {
		const { connection, sockets, socket, clock, connect } = chatConnectionHarness();
		connection.start();
		for (const code of [1011, 4401, 1006]) {
			await connect();
			socket().ends(code);
			await clock.advance(10_000);
		}
		const tokens = sockets.map(({ query }) => query.get('token'));
		expect(tokens).toEqual(['secret-1', 'secret-1', 'secret-2', 'secret-2']);
		expect(new Set(sockets.map(({ query }) => query.get('client_id')))).toEqual(
			new Set(['client-1']),
		);
	});

	it('mints a new token for each attempt after 1008, and makes no claim', async () => {
		const { connection, sockets, socket, clock, failures } = chatConnectionHarness();
		connection.start();
		await settle();
		for (const seconds of [1, 20, 20]) {
			socket().opens();
			socket().ends(1008, 'policy: secret-1');
			await clock.advance(seconds * 1_000);
		}
		const queries = sockets.map(({ query }) => [query.get('token'), query.get('claim')]);
		expect(queries).toEqual([1, 2, 3, 4].map((n) => [`secret-${n}`, null]));
		expect(failures[0]).toMatchObject({
			kind: 'in_use_or_inactive',
			originalMessage: 'close code 1008 · policy: [hidden]',
		});
		await connection.close();
	});

	it('sends claim=1 with Disconnect Other Connection, and names the inactive agent if the service still rejects it', async () => {
		const { connection, sockets, socket, clock } = chatConnectionHarness({ disconnectOther: true });
		connection.start();
		await settle();
		for (const seconds of [1, 20, 0]) {
			socket().opens();
			socket().ends(1008);
			await clock.advance(seconds * 1_000);
		}
		expect(sockets.map(({ query }) => query.get('claim'))).toEqual(['1', '1', '1']);
		expect(connection.lastFailure?.kind).toBe('agent_inactive');
		await connection.close();
	});

	it.each([1000, 1008, 4409])(
		'reconnects without a claim after a loss (%d), also if the service then rejects it',
		async (code) => {
			const { connection, sockets, socket, clock, connect } = chatConnectionHarness({
				disconnectOther: true,
			});
			connection.start();
			await connect();
			socket().ends(code, 'taken over');
			await clock.advance(1_000);
			socket().opens();
			socket().ends(1008);
			await clock.advance(20_000);
			const [first, ...later] = sockets.map(({ query }) => query.get('claim'));
			expect([first, later.length > 1, new Set(later)]).toEqual(['1', true, new Set([null])]);
			await connection.close();
		},
	);

	it('ends after 1003', async () => {
		const { connection, sockets, socket, clock, endings, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		socket().ends(1003);
		await clock.advance(60_000);
		expect(sockets).toHaveLength(1);
		expect(endings[0]).toMatchObject({ kind: 'client_bug', originalMessage: 'close code 1003' });
		expect(connection.signal.aborted).toBe(true);
		expect(clock.pending).toBe(0);
	});
});

describe('failed token requests', () => {
	it.each(['session_closed', 'rejected'] as const)('end immediately: %s', async (kind) => {
		const { connection, sockets, endings, mints } = chatConnectionHarness({}, async () => ({
			kind,
			error: new Error('said'),
		}));
		const ready = await connection.start().ready();
		expect(ready).toEqual({ kind: 'ended', ending: endings[0] });
		expect(endings[0]).toMatchObject({
			kind: kind === 'rejected' ? 'mint_rejected' : kind,
			originalMessage: 'said',
		});
		expect(sockets).toHaveLength(0);
		expect(mints()).toBe(1);
	});

	it('are retried with backoff if the service is unreachable', async () => {
		const { connection, clock, endings, mints } = chatConnectionHarness({}, async (n, time) =>
			n < 3 ? { kind: 'unreachable', error: new Error('x') } : await freshToken(n, time),
		);
		connection.start();
		await clock.advance(1_000);
		expect(mints()).toBe(2);
		await clock.advance(2_000);
		expect(mints()).toBe(3);
		expect(endings).toEqual([]);
	});

	it.each(['https://h/p', 'ws://h/p', 'nonsense'])('reject the URL %s', async (wsUrl) => {
		const { connection, sockets, endings } = chatConnectionHarness({}, async () => ({
			kind: 'token',
			token: { token: 'secret-1', ws_url: wsUrl, expires_at: 0, stream: 'user' },
		}));
		connection.start();
		await settle();
		expect(sockets).toHaveLength(0);
		expect(endings[0]).toMatchObject({
			kind: 'bad_url',
			originalMessage: wsUrl === 'nonsense' ? 'an unreadable URL' : wsUrl,
		});
	});
});
