import { freshToken, chatConnectionHarness, settle, WS_URL } from './fakes';

describe('reconnecting', () => {
	it('waits 1, 2, 4, 8, 16, and 30 seconds, reports the loss once, and tries again after minutes', async () => {
		const { connection, sockets, socket, clock, endings, losses } = chatConnectionHarness();
		connection.start();
		await settle();
		const fails = async (seconds: number) => {
			const before = sockets.length;
			socket().breaks();
			await clock.advance(seconds * 1_000 - 1);
			expect(sockets).toHaveLength(before);
			await clock.advance(1);
			expect(sockets).toHaveLength(before + 1);
		};
		for (const pauseSeconds of [60, 120, 240, 480, 900, 900]) {
			for (const seconds of [1, 2, 4, 8, 16, 30]) await fails(seconds);
			await fails(pauseSeconds);
		}
		expect(losses).toHaveLength(1);
		expect(losses[0]).toMatchObject({
			kind: 'unreachable',
			code: 1006,
			outcome: 'not_sent',
			originalMessage: 'close code 1006',
		});
		expect(endings).toEqual([]);
		await connection.close();
	});

	it('reports another loss only after a connection of an hour', async () => {
		const { connection, socket, clock, losses, connect } = chatConnectionHarness({
			mintToken: async () => ({
				kind: 'token',
				token: { token: 't', ws_url: WS_URL, expires_at: NaN, stream: 'user' },
			}),
		});
		connection.start();
		const isLost = async () => {
			for (let attempt = 1; attempt <= 7; attempt += 1) {
				socket().breaks();
				await clock.advance(60_000);
			}
		};
		await settle();
		await isLost();
		await connect();
		await clock.advance(60_000);
		await isLost();
		expect(losses).toHaveLength(1);
		await clock.advance(120_000);
		await connect();
		// Also across renewals of the connection.
		for (let seconds = 0; seconds < 3_600; seconds += 1) {
			await clock.advance(1_000);
			if (socket().readyState === 0) socket().opens();
		}
		await isLost();
		expect(losses).toHaveLength(2);
		await connection.close();
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
		"isn't lost if each quiet connection is closed after %d ms",
		async (ms) => {
			const { connection, sockets, socket, clock, losses } = chatConnectionHarness();
			connection.start();
			await settle();
			for (let count = 1; count <= 20; count += 1) {
				socket().opens();
				await clock.advance(ms);
				socket().ends(1006);
				await clock.advance(1_000);
				expect(sockets).toHaveLength(count + 1);
			}
			expect(losses).toEqual([]);
			await connection.close();
		},
	);

	it('polls every 20 seconds for 10 minutes with a new token each time, then reports the loss', async () => {
		const { connection, sockets, socket, clock, losses, mints } = chatConnectionHarness();
		connection.start();
		await settle();
		for (let attempt = 1; attempt <= 31; attempt += 1) {
			socket().opens();
			socket().ends(1008, 'policy');
			await clock.advance(attempt === 1 ? 999 : 19_999);
			expect(sockets).toHaveLength(attempt);
			await clock.advance(1);
			expect(sockets).toHaveLength(attempt + 1);
		}
		expect(losses).toEqual([]);
		socket().ends(1008, 'policy: secret-32');
		await settle();
		expect(mints()).toBe(32);
		expect(new Set(sockets.map(({ url }) => url)).size).toBe(32);
		expect(sockets.some(({ query }) => query.has('claim'))).toBe(false);
		expect(losses).toMatchObject([
			{ kind: 'in_use_or_inactive', originalMessage: 'close code 1008 · policy: [hidden]' },
		]);
		await connection.close();
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

	it("doesn't let two clients with Disconnect Other Connection displace each other forever", async () => {
		const { connection, socket, clock, losses, connect } = chatConnectionHarness({
			disconnectOther: true,
		});
		connection.start();
		for (let round = 0; round < 15; round += 1) {
			await connect();
			// The other client takes over before the connection counts as healthy.
			await clock.advance(20_000);
			socket().ends(1000);
			await clock.advance(30_000);
		}
		expect(losses).toHaveLength(1);
		await connection.close();
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

	it('is lost after the second close with an undocumented code', async () => {
		const { connection, socket, clock, losses, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		socket().ends(4409, 'replaced');
		await clock.advance(1_000);
		await connect();
		socket().ends(4409, 'replaced');
		await settle();
		expect(losses[0]).toMatchObject({
			kind: 'displaced',
			code: 4409,
			originalMessage: 'close code 4409 · replaced',
		});
		await connection.close();
	});

	it('ends after 1003', async () => {
		const { connection, sockets, socket, clock, endings, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		socket().ends(1003);
		await clock.advance(60_000);
		expect(sockets).toHaveLength(1);
		expect(endings[0]).toMatchObject({ kind: 'client_bug', code: 1003 });
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
