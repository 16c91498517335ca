import type { MintResult } from '../../../../nodes/shared/chat/token';
import { TokenCache } from '../../../../nodes/shared/chat/token';
import {
	ackFrame,
	eventFrame,
	FakeClock,
	freshToken,
	messageSent,
	chatConnectionHarness,
	settle,
	WS_URL,
	outgoing,
} from './fakes';

/** A token that the service says to expire `seconds` from now. */
function tokenFor(seconds: number) {
	return async (n: number, clock: FakeClock): Promise<MintResult> => ({
		kind: 'token',
		token: {
			token: `secret-${n}`,
			ws_url: WS_URL,
			expires_at: clock.now() / 1000 + seconds,
			stream: 'user',
		},
	});
}

describe('TokenKeeper', () => {
	function keeper(
		mint: (n: number, clock: FakeClock) => Promise<MintResult> = freshToken,
		random = 0.5,
	) {
		const clock = new FakeClock();
		let mints = 0;
		const tokens = new TokenCache(
			async () => {
				mints += 1;
				return await mint(mints, clock);
			},
			clock,
			() => random,
		);
		return { clock, tokens, mints: () => mints };
	}

	it('gives the same token for as long as it is good', async () => {
		const { clock, tokens, mints } = keeper();
		const first = await tokens.current();
		await clock.advance(280_000);
		expect(await tokens.current()).toEqual(first);
		await clock.advance(10_000);
		expect(await tokens.current()).not.toEqual(first);
		expect(mints()).toBe(2);
	});

	it.each([
		[0, 240_000],
		[0.5, 255_000],
		[1, 270_000],
	])('is due between 4 and 4.5 minutes (chance %d: %d ms)', async (random, due) => {
		const { clock, tokens } = keeper(freshToken, random);
		await tokens.current();
		expect(tokens.renewAt - clock.elapsed()).toBe(due);
	});

	it.each([
		['a short life is believed', 60, 51_000],
		['a life of a second is not: a clock here that is ahead by almost five minutes', 1, 30_000],
		['a long life is not: five minutes are documented', 3_600, 255_000],
		['a life that is over means a wrong clock here', -600, 255_000],
		['no time at all', NaN, 255_000],
	])('%s', async (_name, seconds, due) => {
		const { clock, tokens } = keeper(tokenFor(seconds));
		await tokens.current();
		expect(tokens.renewAt - clock.elapsed()).toBeCloseTo(due, 0);
	});

	it('mints once for all who ask at the same time', async () => {
		const { tokens, mints } = keeper();
		const [one, two] = await Promise.all([tokens.current(), tokens.renew()]);
		expect(one).toEqual(two);
		expect(mints()).toBe(1);
	});

	it('keeps the old token when a renewal does not succeed, and asks again in 30 s', async () => {
		const { clock, tokens } = keeper(async (n, time) =>
			n === 2 ? { kind: 'unreachable', error: null } : await freshToken(n, time),
		);
		const first = await tokens.current();
		await tokens.renew();
		expect(await tokens.current()).toEqual(first);
		expect(tokens.renewAt - clock.elapsed()).toBe(30_000);
	});

	it('takes a mint that throws for a service that is not there', async () => {
		const error = new Error('down');
		const { tokens } = keeper(async () => await Promise.reject(error));
		expect(await tokens.current()).toEqual({ kind: 'unreachable', error });
	});

	it('forgets a token that was rejected', async () => {
		const { tokens, mints } = keeper();
		await tokens.current();
		tokens.discard();
		await tokens.current();
		expect(mints()).toBe(2);
	});
});

describe('an open connection', () => {
	it('has a new token at hand before the old one ends, so that a reconnect waits for none', async () => {
		const { connection, socket, sockets, clock, mints, hold } = chatConnectionHarness({
			renewConnectionEveryMs: Infinity,
		});
		connection.start();
		await hold();
		await clock.advance(254_000);
		expect(mints()).toBe(1);
		await clock.advance(2_000);
		expect(mints()).toBe(2);
		await clock.advance(40_000);
		socket().ends(4401);
		await clock.advance(1_000);
		expect(sockets[1]?.query.get('token')).toBe('secret-3');
	});

	it('uses the renewed token after a passing close', async () => {
		const { connection, socket, sockets, clock, mints, hold } = chatConnectionHarness({
			renewConnectionEveryMs: Infinity,
		});
		connection.start();
		await hold();
		await clock.advance(290_000);
		socket().ends(1011);
		await clock.advance(1_000);
		expect(mints()).toBe(2);
		expect(sockets[1]?.query.get('token')).toBe('secret-2');
	});

	it.each([true, false])(
		'has a token that outlasts an ack after a passing close, if one can be had (%p)',
		async (isReachable) => {
			const { connection, socket, clock, hold } = chatConnectionHarness({}, async (n, time) =>
				n === 1 || isReachable ? await freshToken(n, time) : { kind: 'unreachable', error: null },
			);
			connection.start();
			await hold();
			await clock.advance(200_000);
			socket().ends(1011);
			await clock.advance(1_000);
			expect(socket().query.get('token')).toBe(isReachable ? 'secret-2' : 'secret-1');
			await connection.close();
		},
	);

	it('goes on for hours with its token renewed again and again', async () => {
		const { connection, sockets, clock, mints, hold } = chatConnectionHarness({
			renewConnectionEveryMs: Infinity,
		});
		connection.start();
		await hold();
		await clock.advance(3_600_000);
		expect(mints()).toBe(15);
		expect(sockets).toHaveLength(1);
		await connection.close();
	});

	it('stays open when a renewal does not succeed and tries again', async () => {
		const { connection, sockets, clock, mints, hold, logged } = chatConnectionHarness(
			{ renewConnectionEveryMs: Infinity },
			async (n, time) =>
				n === 2 ? { kind: 'rejected', error: new Error('no') } : await freshToken(n, time),
		);
		connection.start();
		await hold();
		await clock.advance(260_000);
		expect(logged.at(-1)).toEqual([
			'The token of a chat session was not renewed yet',
			{ sessionId: 's-1', originalMessage: 'no' },
		]);
		await clock.advance(30_000);
		expect(mints()).toBe(3);
		expect(sockets).toHaveLength(1);
	});

	it('ends when the renewal shows that the session is closed', async () => {
		const { connection, clock, endings, hold } = chatConnectionHarness({}, async (n, time) =>
			n === 2 ? { kind: 'session_closed', error: new Error('x') } : await freshToken(n, time),
		);
		connection.start();
		await hold();
		await clock.advance(260_000);
		expect(endings.map(({ kind }) => kind)).toEqual(['session_closed']);
	});

	/** A connection whose socket is due; the new one is on its way. */
	async function due(options: Parameters<typeof chatConnectionHarness>[0] = {}) {
		const use = chatConnectionHarness(options);
		use.connection.start();
		await use.hold();
		await use.clock.advance(270_000);
		const [old, fresh] = use.sockets;
		if (old === undefined || fresh === undefined) throw new Error('no second socket was opened');
		return { ...use, old, fresh };
	}

	it('is replaced every 4.5 minutes: another socket of the same client, without claim, then the old one goes', async () => {
		const { sockets, old, fresh, clock, endings, connection } = await due({ takeOver: true });
		expect(sockets).toHaveLength(2);
		expect(Object.fromEntries(fresh.query)).toEqual({
			shard: '4',
			token: 'secret-2',
			client_id: 'client-1',
		});
		fresh.opens();
		await clock.advance(499);
		expect(old.closeCalls).toEqual([]);
		await clock.advance(1);
		expect(old.closeCalls).toEqual([1000]);
		expect(await connection.ready()).toEqual({ kind: 'open' });
		await clock.advance(269_499);
		expect(sockets).toHaveLength(2);
		await clock.advance(1);
		expect(sockets).toHaveLength(3);
		expect(endings).toEqual([]);
	});

	it('loses no event on the way: those of both sockets count, each once', async () => {
		const { old, fresh, clock, events } = await due();
		old.receives(eventFrame('nudge_sent', 'e1'));
		fresh.opens();
		old.receives(eventFrame('nudge_sent', 'e2'));
		fresh.receives(eventFrame('nudge_sent', 'e2'));
		await clock.advance(500);
		fresh.receives(eventFrame('nudge_sent', 'e3'));
		expect(events.map(({ eventId }) => eventId)).toEqual(['e1', 'e2', 'e3']);
	});

	it.each([1000, 1008, 4001, 4401])(
		'where the service closes the old socket then (%d), the new one goes on without a word',
		async (code) => {
			const { sockets, old, fresh, clock, connection, endings, logged } = await due();
			fresh.opens();
			old.ends(code, 'replaced');
			await clock.advance(60_000);
			expect(sockets).toHaveLength(2);
			expect(await connection.ready()).toEqual({ kind: 'open' });
			expect([endings, logged]).toEqual([[], []]);
		},
	);

	it('where the old socket breaks before the new one is open, the new one goes on', async () => {
		const { sockets, old, fresh, clock, connection } = await due();
		old.breaks();
		await clock.advance(3_000);
		fresh.opens();
		await clock.advance(500);
		expect(await connection.ready()).toEqual({ kind: 'open' });
		expect(sockets).toHaveLength(2);
	});

	it.each([1008, 1000, 4009])(
		'where the service rejects the second socket (%d), the old one is closed first, then and from now on',
		async (code) => {
			const onSetback = jest.fn();
			const { sockets, old, fresh, clock, socket, endings, logged } = await due({ onSetback });
			fresh.opens();
			fresh.ends(code, 'one connection only');
			await settle();
			expect(old.closeCalls).toEqual([1000]);
			expect(sockets).toHaveLength(3);
			socket().opens();
			await clock.advance(269_000);
			expect(socket().closeCalls).toEqual([]);
			await clock.advance(2_000);
			expect(sockets[2]?.closeCalls).toEqual([1000]);
			expect(sockets).toHaveLength(4);
			expect(endings).toEqual([]);
			// None of this is a loss.
			expect(onSetback).not.toHaveBeenCalled();
			expect(logged.filter(([message]) => message.startsWith('Connecting'))).toEqual([]);
		},
	);

	it.each([
		['breaks', 0],
		['does not answer', 15_000],
	])(
		'where the new socket %s before it opens, it is opened anew like any broken one',
		async (_how, ms) => {
			const { sockets, old, fresh, clock, hold, connection } = await due();
			if (ms === 0) fresh.breaks();
			await clock.advance(ms);
			await settle();
			expect(old.closeCalls).toEqual([1000]);
			expect(sockets).toHaveLength(3);
			await hold();
			expect(await connection.ready()).toEqual({ kind: 'open' });
			await clock.advance(270_000);
			expect(sockets).toHaveLength(4);
			expect(sockets[2]?.closeCalls).toEqual([]);
		},
	);

	it('where both are closed, it is a loss like any other', async () => {
		const { sockets, old, fresh, clock } = await due();
		fresh.opens();
		old.ends(1008);
		fresh.ends(1008);
		await clock.advance(999);
		expect(sockets).toHaveLength(2);
		await clock.advance(1);
		expect(sockets).toHaveLength(3);
	});

	it('sends no frame on a socket that may be closed any moment', async () => {
		const { old, fresh, clock, connection } = await due();
		const exchange = connection.sendWithAck(outgoing('{}'), 60_000);
		fresh.opens();
		await clock.advance(499);
		expect([old.sent, fresh.sent]).toEqual([[], []]);
		await clock.advance(1);
		expect([old.sent, fresh.sent]).toEqual([[], ['{}']]);
		fresh.receives(messageSent);
		expect((await exchange).kind).toBe('ack');
	});

	it('sends nothing for someone who has left while a token was asked for', async () => {
		let give: () => void = () => undefined;
		const { connection, sockets, clock, hold } = chatConnectionHarness(
			{ renewConnectionEveryMs: Infinity },
			async (n, time) => {
				if (n === 1) return await freshToken(n, time);
				await new Promise<void>((resolve) => {
					give = resolve;
				});
				return { kind: 'unreachable', error: null };
			},
		);
		connection.start();
		await hold();
		await clock.advance(200_000);
		const stop = new AbortController();
		const exchange = connection.sendWithAck(outgoing('{}'), 120_000, stop.signal);
		await settle();
		stop.abort();
		expect((await exchange).kind).toBe('not_sent');
		give();
		await clock.advance(5_000);
		expect(sockets.map(({ sent }) => sent)).toEqual([[]]);
	});

	it('takes no ack of the old socket for that of a frame on the new one', async () => {
		const { old, fresh, clock, connection } = await due();
		old.deaf = true;
		fresh.opens();
		await clock.advance(500);
		const exchange = connection.sendWithAck(outgoing('{}'), 60_000);
		await settle();
		old.receives(ackFrame({ state: 'default', reply: 'to an earlier frame' }));
		fresh.receives(messageSent);
		expect(await exchange).toMatchObject({ kind: 'ack', ack: { reply: 'hello' } });
	});

	it('takes an ack of the old socket that echoes the ID of the frame on the new one', async () => {
		const { old, fresh, clock, connection } = await due();
		old.deaf = true;
		fresh.opens();
		await clock.advance(500);
		const frame = outgoing('{}');
		const exchange = connection.sendWithAck(frame, 60_000);
		await settle();
		old.receives(ackFrame({ state: 'default', reply: 'own', message_id: frame.messageId }));
		expect(await exchange).toMatchObject({ kind: 'ack', ack: { reply: 'own' } });
	});

	it('is held while a token is asked for, and a frame that is sent meanwhile is not cut off', async () => {
		let give: (token: MintResult) => void = () => undefined;
		const { connection, sockets, socket, clock, hold } = chatConnectionHarness(
			{ renewConnectionEveryMs: 150_000 },
			async (n, time) =>
				n === 1 ? await freshToken(n, time) : await new Promise((resolve) => (give = resolve)),
		);
		connection.start();
		await hold();
		await clock.advance(151_000);
		expect(connection.isHeld).toBe(true);
		const exchange = connection.sendWithAck(outgoing('{}'), 60_000);
		await settle();
		expect(socket().sent).toEqual(['{}']);
		give(await freshToken(2, clock));
		await clock.advance(5_000);
		expect(sockets).toHaveLength(1);
		socket().receives(messageSent);
		expect((await exchange).kind).toBe('ack');
		await clock.advance(1_000);
		expect(sockets).toHaveLength(2);
		await connection.close();
	});

	it('is not held by a new socket that has ended while the old one is slow to close', async () => {
		const { old, fresh, clock, hold, connection, socket } = await due();
		old.deaf = true;
		fresh.opens();
		await clock.advance(500);
		fresh.ends(1011);
		await settle();
		const isReady = jest.fn();
		void connection.ready().then(isReady);
		await settle();
		// A frame would look for another socket without end, and nothing else would run in n8n.
		expect(isReady).not.toHaveBeenCalled();
		const exchange = connection.sendWithAck(outgoing('{}'), 60_000);
		await clock.advance(3_500);
		await hold();
		expect(socket().sent).toEqual(['{}']);
		socket().receives(messageSent);
		expect((await exchange).kind).toBe('ack');
	});

	it('is replaced though a half-open peer does not answer the close', async () => {
		const { old, fresh, clock, connection } = await due();
		old.deaf = true;
		fresh.opens();
		await clock.advance(500);
		expect(await connection.ready()).toEqual({ kind: 'open' });
		await clock.advance(2_000);
		expect(await connection.ready()).toEqual({ kind: 'open' });
	});

	it('lets every socket go whose place was taken, though an older one is slow to close', async () => {
		const { connection, sockets, clock, hold } = chatConnectionHarness({
			renewConnectionEveryMs: 1_000,
		});
		connection.start();
		await hold();
		const [first] = sockets;
		if (first === undefined) throw new Error('no socket was opened');
		first.deaf = true;
		await clock.advance(1_000);
		await hold();
		await clock.advance(1_000);
		expect(sockets).toHaveLength(3);
		await clock.advance(500);
		await hold();
		expect(sockets.map(({ closeCalls }) => closeCalls)).toEqual([[1000], [1000], []]);
		expect(await connection.ready()).toEqual({ kind: 'open' });
		await connection.close();
	});

	it('opens no second socket beside one that went while a token was asked for', async () => {
		let give: () => void = () => undefined;
		const { connection, sockets, socket, clock, hold, mints } = chatConnectionHarness(
			{ renewConnectionEveryMs: 10_000 },
			async (n, time) => {
				if (n === 2) {
					await new Promise<void>((resolve) => {
						give = resolve;
					});
				}
				return await tokenFor(1)(n, time);
			},
		);
		connection.start();
		await hold();
		await clock.advance(10_000);
		expect(mints()).toBe(2);
		socket().breaks();
		await clock.advance(1_000);
		give();
		await settle();
		expect(sockets).toHaveLength(2);
		await connection.close();
	});

	it('is kept for another half a minute when no token is to be had', async () => {
		const { sockets, connection, clock, hold } = chatConnectionHarness(
			{ renewConnectionEveryMs: 290_000 },
			async (n, time) =>
				n >= 2 && n <= 4 ? { kind: 'unreachable', error: null } : await freshToken(n, time),
		);
		connection.start();
		await hold();
		await clock.advance(310_000);
		expect(sockets.map(({ closeCalls }) => closeCalls)).toEqual([[]]);
		expect(await connection.ready()).toEqual({ kind: 'open' });
		await clock.advance(11_000);
		expect(sockets).toHaveLength(2);
	});

	it('leaves nothing open when it is closed while both sockets are there', async () => {
		const { old, fresh, clock, connection } = await due();
		fresh.opens();
		await connection.close();
		expect([old.closeCalls, fresh.closeCalls]).toEqual([[1000], [1000]]);
		await clock.advance(3_000);
		expect(clock.pending).toBe(0);
	});

	it('ends with the session while both sockets are there', async () => {
		const { old, fresh, clock, endings } = await due();
		fresh.opens();
		old.receives(eventFrame('session_closed', 'e1'));
		await clock.advance(2_000);
		expect(endings.map(({ kind }) => kind)).toEqual(['session_closed']);
		expect([old.readyState, fresh.readyState]).toEqual([3, 3]);
	});

	it('is not replaced while a frame waits for its ack', async () => {
		const { connection, sockets, socket, clock, hold } = chatConnectionHarness();
		connection.start();
		await hold();
		await clock.advance(230_000);
		const exchange = connection.sendWithAck(outgoing('{}'), 60_000);
		await clock.advance(55_000);
		expect(sockets).toHaveLength(1);
		socket().receives(messageSent);
		expect((await exchange).kind).toBe('ack');
		await clock.advance(1_000);
		expect(sockets).toHaveLength(2);
	});

	/** A service whose sockets end with the token that they were opened with. */
	function endingWithToken(options: Parameters<typeof chatConnectionHarness>[0] = {}) {
		const use = chatConnectionHarness(options, async (n, clock) => {
			minted.set(`secret-${n}`, clock.now());
			return await freshToken(n, clock);
		});
		const minted = new Map<string, number>();
		const endOld = () => {
			for (const socket of use.sockets) {
				const since = minted.get(socket.query.get('token') ?? '') ?? 0;
				if (socket.readyState < 2 && use.clock.now() - since >= 300_000) socket.ends(4401);
			}
		};
		return { ...use, endOld };
	}

	it.each([900, 7_300, 45_000, 100_000, 119_000])(
		'is renewed between messages that come back to back, each taking %d ms',
		async (turnMs) => {
			const { connection, sockets, clock, endOld } = endingWithToken();
			connection.start();
			await settle();
			let acked = 0;
			let hasEnded = false;
			const kinds: string[] = [];
			const talk = async () => {
				while (!hasEnded) {
					const { kind } = await connection.sendWithAck(outgoing('{}'), 120_000);
					kinds.push(kind);
					if (kind !== 'ack') return;
				}
			};
			const talking = talk();
			let waiting = 0;
			for (let ms = 0; ms < 1_200_000; ms += 100) {
				for (const one of sockets) if (one.readyState === 0) one.opens();
				await clock.advance(100);
				endOld();
				const sent = sockets.reduce((sum, one) => sum + one.sent.length, 0);
				waiting = sent > acked ? waiting + 100 : 0;
				if (waiting < turnMs) continue;
				waiting = 0;
				acked += 1;
				sockets
					.findLast((one) => one.sent.length > 0 && one.readyState === 1)
					?.receives(messageSent);
				await settle();
			}
			hasEnded = true;
			await connection.close();
			await talking;
			expect(kinds.filter((kind) => kind !== 'ack').length).toBeLessThanOrEqual(1);
			expect(kinds.length).toBeGreaterThan(1_100_000 / (turnMs + 1_000));
			expect(sockets.length).toBeLessThanOrEqual(12);
		},
	);

	describe('where no token is to be had', () => {
		const withoutToken = async (
			seconds: number,
			kind: 'unreachable' | 'rejected' = 'unreachable',
		) => {
			const mint = { isDown: true };
			const use = chatConnectionHarness({}, async (n, clock) =>
				n > 1 && mint.isDown ? { kind, error: new Error('no') } : await freshToken(n, clock),
			);
			use.connection.start();
			await use.hold();
			await use.clock.advance(seconds * 1_000);
			const exchange = use.connection.sendWithAck(outgoing('{}'), 120_000);
			await settle();
			return { ...use, exchange, mint };
		};

		it('a message that the token outlasts is sent', async () => {
			const { socket, exchange } = await withoutToken(179);
			expect(socket().sent).toEqual(['{}']);
			socket().receives(messageSent);
			expect((await exchange).kind).toBe('ack');
		});

		it('another one waits for the new socket, because a long turn could be cut off', async () => {
			const { sockets, socket, clock, exchange, mint, mints, hold } = await withoutToken(200);
			await clock.advance(20_000);
			expect(sockets.flatMap(({ sent }) => sent)).toEqual([]);
			// After 1, 2, 4, and 8 seconds.
			expect(mints()).toBeGreaterThanOrEqual(5);
			mint.isDown = false;
			await clock.advance(16_000);
			expect(sockets).toHaveLength(2);
			await hold();
			expect(socket().sent).toEqual(['{}']);
			socket().receives(messageSent);
			expect((await exchange).kind).toBe('ack');
		});

		it.each(['unreachable', 'rejected'] as const)(
			'it waits no longer than its time limit, and was surely not sent (%s)',
			async (kind) => {
				const { sockets, clock, exchange, connection } = await withoutToken(181, kind);
				await clock.advance(122_000);
				expect(await exchange).toMatchObject({
					kind: 'not_sent',
					readiness: {
						kind: 'ended',
						ending: { kind: 'token_missed', originalMessage: 'no', isTransient: true },
					},
				});
				expect(sockets.flatMap(({ sent }) => sent)).toEqual([]);
				expect(await connection.ready()).toEqual({ kind: 'open' });
			},
		);

		it('a session that was closed in between is told as closed', async () => {
			const { clock, connection, hold, endings } = chatConnectionHarness({}, async (n, time) =>
				n > 1 ? { kind: 'session_closed', error: null } : await freshToken(n, time),
			);
			connection.start();
			await hold();
			await clock.advance(200_000);
			const exchange = connection.sendWithAck(outgoing('{}'), 120_000);
			await clock.advance(3_000);
			expect((await exchange).kind).toBe('not_sent');
			expect(endings.map(({ kind }) => kind)).toEqual(['session_closed']);
		});

		it('a message waits if the socket may end at any moment, and is sent once that has outlived its token', async () => {
			const { sockets, socket, clock, exchange } = await withoutToken(275);
			await clock.advance(25_000);
			expect(socket().sent).toEqual([]);
			await clock.advance(10_000);
			expect(socket().sent).toEqual(['{}']);
			socket().receives(messageSent);
			expect((await exchange).kind).toBe('ack');
			expect(sockets).toHaveLength(1);
		});

		it('a message waits, and if the socket then ends with its token, it was surely not sent', async () => {
			const { sockets, socket, clock, exchange } = await withoutToken(275);
			await clock.advance(25_000);
			socket().ends(4401);
			await clock.advance(300_000);
			expect((await exchange).kind).toBe('not_sent');
			expect(sockets.flatMap(({ sent }) => sent)).toEqual([]);
		});
	});

	it.each([
		['back', -6 * 3_600_000],
		['ahead', 6 * 3_600_000],
	])('keeps its times if the system clock is set %s', async (_name, ms) => {
		const { connection, sockets, socket, clock, mints, hold } = chatConnectionHarness();
		connection.start();
		await hold();
		await clock.advance(60_000);
		clock.set(clock.now() + ms);
		await clock.advance(190_000);
		expect([sockets.length, mints()]).toEqual([1, 1]);
		await clock.advance(20_000);
		await hold();
		expect([sockets.length, mints()]).toEqual([2, 2]);
		socket().ends(1011);
		await clock.advance(1_000);
		await hold();
		expect(await connection.ready()).toEqual({ kind: 'open' });
		expect(sockets).toHaveLength(3);
		await connection.close();
	});

	it('counts failed attempts after a replacement like any other', async () => {
		const { connection, sockets, socket, clock, hold } = chatConnectionHarness();
		connection.start();
		await hold();
		await clock.advance(270_000);
		await hold();
		expect(sockets).toHaveLength(2);
		socket().breaks();
		await clock.advance(999);
		expect(sockets).toHaveLength(2);
		await clock.advance(1);
		expect(sockets).toHaveLength(3);
		await settle();
	});
});
