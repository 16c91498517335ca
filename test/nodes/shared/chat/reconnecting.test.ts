import { freshToken, chatConnectionHarness, settle } from './fakes';

describe('reconnecting', () => {
	it('waits 1, 2, 4, 8, 16, and 30 seconds, then gives up once', async () => {
		const { connection, sockets, socket, clock, endings } = chatConnectionHarness();
		connection.start();
		await settle();
		for (const seconds of [1, 2, 4, 8, 16, 30]) {
			const before = sockets.length;
			socket().breaks();
			await clock.advance(seconds * 1_000 - 1);
			expect(sockets).toHaveLength(before);
			await clock.advance(1);
			expect(sockets).toHaveLength(before + 1);
		}
		socket().breaks();
		await clock.advance(600_000);
		expect(sockets).toHaveLength(7);
		expect(endings).toHaveLength(1);
		expect(endings[0]).toMatchObject({
			kind: 'unreachable',
			code: 1006,
			outcome: 'not_sent',
			originalMessage: 'close code 1006',
		});
		expect(clock.pending).toBe(0);
		expect(connection.signal.aborted).toBe(true);
	});

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

	// As a proxy does with its usual time limit of 60 seconds, and some with 55.
	it.each([54_900, 59_990, 60_010])(
		'continues without an end if each quiet connection is closed after %d ms',
		async (ms) => {
			const { connection, sockets, socket, clock, endings } = chatConnectionHarness({
				reconnectAttempts: 4,
			});
			connection.start();
			await settle();
			for (let count = 1; count <= 20; count += 1) {
				socket().opens();
				await clock.advance(ms);
				socket().ends(1006);
				await clock.advance(1_000);
				expect(sockets).toHaveLength(count + 1);
			}
			expect(endings).toEqual([]);
			await connection.close();
		},
	);

	it('polls for 10 minutes, then gives up', async () => {
		const { connection, sockets, socket, clock, endings } = chatConnectionHarness();
		connection.start();
		await settle();
		for (let attempt = 1; attempt <= 31; attempt += 1) {
			socket().opens();
			socket().ends(1008);
			await clock.advance(attempt === 1 ? 1_000 : 20_000);
		}
		expect(sockets).toHaveLength(32);
		expect(endings).toEqual([]);
		socket().ends(1008);
		await settle();
		expect(endings).toMatchObject([{ kind: 'in_use_or_inactive' }]);
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

	it("doesn't reuse a token after 1008, and polls every 20 seconds", async () => {
		const { connection, sockets, socket, clock, endings, mints } = chatConnectionHarness({
			slowPolls: 2,
		});
		connection.start();
		await settle();
		for (const seconds of [1, 20, 20]) {
			const before = sockets.length;
			socket().opens();
			socket().ends(1008, 'policy');
			await clock.advance(seconds * 1_000 - 1);
			expect(sockets).toHaveLength(before);
			await clock.advance(1);
			expect(sockets).toHaveLength(before + 1);
		}
		socket().ends(1008, 'policy: secret-4');
		await settle();
		expect(mints()).toBe(4);
		expect(new Set(sockets.map(({ url }) => url)).size).toBe(4);
		expect(sockets.some(({ query }) => query.has('claim'))).toBe(false);
		expect(endings[0]).toMatchObject({
			kind: 'in_use_or_inactive',
			originalMessage: 'close code 1008 · policy: [hidden]',
		});
	});

	it('sends claim=1 with Disconnect Other Connection, and names the inactive agent if the service still rejects it', async () => {
		const { connection, sockets, socket, clock, endings } = chatConnectionHarness({
			disconnectOther: true,
			slowPolls: 1,
		});
		connection.start();
		await settle();
		for (const seconds of [1, 20, 0]) {
			socket().opens();
			socket().ends(1008);
			await clock.advance(seconds * 1_000);
		}
		expect(sockets.map(({ query }) => query.get('claim'))).toEqual(['1', '1', '1']);
		expect(endings.map(({ kind }) => kind)).toEqual(['agent_inactive']);
	});

	it('reconnects without a claim after it was displaced', async () => {
		const { connection, sockets, socket, clock, connect } = chatConnectionHarness({
			disconnectOther: true,
		});
		connection.start();
		await connect();
		socket().ends(4409, 'taken over');
		await clock.advance(1_000);
		expect(sockets.map(({ query }) => query.get('claim'))).toEqual(['1', null]);
	});

	it('gives up after the second close with an undocumented code', async () => {
		const { connection, socket, clock, endings, logged, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		socket().ends(4409, 'replaced');
		await clock.advance(1_000);
		await connect();
		socket().ends(4409, 'replaced');
		await settle();
		expect(endings[0]).toMatchObject({
			kind: 'displaced',
			code: 4409,
			originalMessage: 'close code 4409 · replaced',
		});
		expect(logged.at(-1)).toEqual([
			endings[0]?.message,
			{ sessionId: 's-1', originalMessage: 'close code 4409 · replaced' },
		]);
	});

	it('gives up after 1003', async () => {
		const { connection, sockets, socket, clock, endings, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		socket().ends(1003);
		await clock.advance(60_000);
		expect(sockets).toHaveLength(1);
		expect(endings[0]).toMatchObject({ kind: 'client_bug', code: 1003 });
	});

	it('survives an error in onEnded', async () => {
		const { connection, socket, connect, logged } = chatConnectionHarness({
			onEnded: () => {
				throw new Error('listener');
			},
		});
		connection.start();
		await connect();
		socket().ends(1003);
		await settle();
		expect(logged.at(-1)?.[0]).toContain("couldn't be reported");
		expect(connection.signal.aborted).toBe(true);
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
			code: null,
			originalMessage: 'said',
		});
		expect(sockets).toHaveLength(0);
		expect(mints()).toBe(1);
	});

	it.each([
		[
			'returned as unreachable',
			async () => ({ kind: 'unreachable' as const, error: new Error('x') }),
		],
		[
			'thrown',
			async () => {
				throw new Error('x');
			},
		],
	])('are retried with backoff: %s', async (_name, fail) => {
		const { connection, clock, endings, mints } = chatConnectionHarness({}, async (n, time) =>
			n < 3 ? await fail() : await freshToken(n, time),
		);
		connection.start();
		await clock.advance(1_000);
		expect(mints()).toBe(2);
		await clock.advance(2_000);
		expect(mints()).toBe(3);
		expect(endings).toEqual([]);
	});

	it('give up if no token is issued', async () => {
		const { connection, clock, endings, mints } = chatConnectionHarness({}, async () => ({
			kind: 'unreachable',
			error: new Error('down'),
		}));
		connection.start();
		await clock.advance(61_000);
		expect(mints()).toBe(7);
		expect(endings[0]).toMatchObject({ kind: 'unreachable', originalMessage: 'down' });
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
