import type { MintResult } from '../../../../nodes/shared/chat/token';
import {
	ackFrame,
	eventFrame,
	type FakeClock,
	type FakeSocket,
	freshToken,
	messageSent,
	chatConnectionHarness,
	settle,
	outgoing,
	tokenFor,
} from './fakes';

describe('a connected session', () => {
	it("renews the token before it expires, so that a reconnect doesn't wait for one", async () => {
		const { connection, socket, sockets, clock, mints, connect } = chatConnectionHarness({
			rotateEveryMs: Infinity,
		});
		connection.start();
		await connect();
		await clock.advance(254_000);
		expect(mints()).toBe(1);
		await clock.advance(2_000);
		expect(mints()).toBe(2);
		await clock.advance(40_000);
		socket().ends(4401);
		await clock.advance(1_000);
		expect(sockets[1]?.query.get('token')).toBe('secret-3');
	});

	it('uses the renewed token after a transient close', async () => {
		const { connection, socket, sockets, clock, mints, connect } = chatConnectionHarness({
			rotateEveryMs: Infinity,
		});
		connection.start();
		await connect();
		await clock.advance(290_000);
		socket().ends(1011);
		await clock.advance(1_000);
		expect(mints()).toBe(2);
		expect(sockets[1]?.query.get('token')).toBe('secret-2');
	});

	it.each([true, false])(
		'uses a token that outlasts an ack after a transient close, if possible (%p)',
		async (isReachable) => {
			const { connection, socket, clock, connect } = chatConnectionHarness({}, async (n, time) =>
				n === 1 || isReachable ? await freshToken(n, time) : { kind: 'unreachable', error: null },
			);
			connection.start();
			await connect();
			await clock.advance(200_000);
			socket().ends(1011);
			await clock.advance(1_000);
			expect(socket().query.get('token')).toBe(isReachable ? 'secret-2' : 'secret-1');
			await connection.close();
		},
	);

	it('lasts for hours with renewed tokens', async () => {
		const { connection, sockets, clock, mints, connect } = chatConnectionHarness({
			rotateEveryMs: Infinity,
		});
		connection.start();
		await connect();
		await clock.advance(3_600_000);
		expect(mints()).toBe(15);
		expect(sockets).toHaveLength(1);
		await connection.close();
	});

	it('stays open if a renewal fails, and retries', async () => {
		const { connection, sockets, clock, mints, connect, logged } = chatConnectionHarness(
			{ rotateEveryMs: Infinity },
			async (n, time) =>
				n === 2 ? { kind: 'rejected', error: new Error('no') } : await freshToken(n, time),
		);
		connection.start();
		await connect();
		await clock.advance(260_000);
		expect(logged.at(-1)).toEqual([
			"The token of a chat session couldn't be renewed yet",
			{ sessionId: 's-1', originalMessage: 'no' },
		]);
		await clock.advance(30_000);
		expect(mints()).toBe(3);
		expect(sockets).toHaveLength(1);
	});

	it('ends if the renewal shows that the session is closed', async () => {
		const { connection, clock, endings, connect } = chatConnectionHarness({}, async (n, time) =>
			n === 2 ? { kind: 'session_closed', error: new Error('x') } : await freshToken(n, time),
		);
		connection.start();
		await connect();
		await clock.advance(260_000);
		expect(endings.map(({ kind }) => kind)).toEqual(['session_closed']);
	});

	/** A connection during a rotation. The new socket isn't open yet. */
	async function duringRotation(options: Parameters<typeof chatConnectionHarness>[0] = {}) {
		const use = chatConnectionHarness(options);
		use.connection.start();
		await use.connect();
		await use.clock.advance(270_000);
		const [old, fresh] = use.sockets;
		if (old === undefined || fresh === undefined) throw new Error('no second socket');
		return { ...use, old, fresh };
	}

	it('rotates every 4.5 minutes: opens a socket with the same client_id and without a claim, then closes the old one', async () => {
		const { sockets, old, fresh, clock, endings, connection } = await duringRotation({
			disconnectOther: true,
		});
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

	it('loses no event: delivers the events of both sockets, each once', async () => {
		const { old, fresh, clock, events } = await duringRotation();
		old.receives(eventFrame('nudge_sent', 'e1'));
		fresh.opens();
		old.receives(eventFrame('nudge_sent', 'e2'));
		fresh.receives(eventFrame('nudge_sent', 'e2'));
		await clock.advance(500);
		fresh.receives(eventFrame('nudge_sent', 'e3'));
		expect(events.map(({ eventId }) => eventId)).toEqual(['e1', 'e2', 'e3']);
	});

	it.each([1000, 1008, 4001, 4401])(
		'if the service closes the old socket (%d), the new one takes over silently',
		async (code) => {
			const { sockets, old, fresh, clock, connection, endings, logged } = await duringRotation();
			fresh.opens();
			old.ends(code, 'replaced');
			await clock.advance(60_000);
			expect(sockets).toHaveLength(2);
			expect(await connection.ready()).toEqual({ kind: 'open' });
			expect([endings, logged]).toEqual([[], []]);
		},
	);

	it('if the old socket breaks before the new one is open, the new one takes over', async () => {
		const { sockets, old, fresh, clock, connection } = await duringRotation();
		old.breaks();
		await clock.advance(3_000);
		fresh.opens();
		await clock.advance(500);
		expect(await connection.ready()).toEqual({ kind: 'open' });
		expect(sockets).toHaveLength(2);
	});

	it('if the service rejects the second socket (1008), closes the old one first, now and from then on', async () => {
		const onAttemptFailed = jest.fn();
		const { sockets, old, fresh, clock, socket, endings, logged } = await duringRotation({
			onAttemptFailed,
		});
		fresh.opens();
		fresh.ends(1008, 'one connection only');
		await settle();
		expect(old.closeCalls).toEqual([1000]);
		expect(sockets).toHaveLength(3);
		// "Do not reconnect blindly with the same token".
		expect(sockets.map(({ query }) => query.get('token'))).toEqual([
			'secret-1',
			'secret-2',
			'secret-3',
		]);
		socket().opens();
		await clock.advance(269_000);
		expect(socket().closeCalls).toEqual([]);
		await clock.advance(2_000);
		expect(sockets[2]?.closeCalls).toEqual([1000]);
		expect(sockets).toHaveLength(4);
		expect(endings).toEqual([]);
		// A rotation isn't a failure.
		expect(onAttemptFailed).not.toHaveBeenCalled();
		expect(logged.filter(([message]) => message.startsWith('Reconnecting'))).toEqual([]);
	});

	it('if the service rejects the second socket (1008) and issues no new token, keeps the old one', async () => {
		const { sockets, socket, clock, connection, connect } = chatConnectionHarness(
			{},
			async (n, time) => (n > 2 ? { kind: 'unreachable', error: null } : await freshToken(n, time)),
		);
		connection.start();
		await connect();
		await clock.advance(270_000);
		socket().opens();
		socket().ends(1008);
		await clock.advance(20_000);
		expect(sockets.map(({ closeCalls }) => closeCalls)).toEqual([[], []]);
		expect(await connection.ready()).toEqual({ kind: 'open' });
	});

	/** Ways in which a new socket can end that don't mean that two sockets are rejected. */
	const failures: Array<[string, (socket: FakeSocket, clock: FakeClock) => Promise<void> | void]> =
		[
			['breaks', (fresh) => fresh.breaks()],
			["doesn't open", async (_fresh, clock) => await clock.advance(15_000)],
			...[1000, 1006, 1011, 4009, 4401].map((code): (typeof failures)[number] => [
				`is closed by the service with ${code}`,
				(fresh) => {
					fresh.opens();
					fresh.ends(code);
				},
			]),
		];

	it.each(failures)(
		'if the new socket %s, keeps the old one and tries again with backoff',
		async (_how, fail) => {
			const onAttemptFailed = jest.fn();
			const use = await duringRotation({ onAttemptFailed });
			const { sockets, old, fresh, socket, clock, connection, events } = use;
			await fail(fresh, clock);
			await settle();
			expect(await connection.ready()).toEqual({ kind: 'open' });
			old.receives(eventFrame('nudge_sent', 'e1'));
			await clock.advance(1_000);
			expect(sockets).toHaveLength(3);
			socket().breaks();
			await clock.advance(1_999);
			expect(sockets).toHaveLength(3);
			await clock.advance(1);
			expect(sockets).toHaveLength(4);
			old.receives(eventFrame('nudge_sent', 'e2'));
			expect(old.closeCalls).toEqual([]);
			socket().opens();
			await clock.advance(500);
			expect(old.closeCalls).toEqual([1000]);
			expect(await connection.ready()).toEqual({ kind: 'open' });
			expect(events.map(({ eventId }) => eventId)).toEqual(['e1', 'e2']);
			expect(onAttemptFailed).not.toHaveBeenCalled();
			// The next rotation opens the new socket first again.
			await clock.advance(269_600);
			expect(sockets).toHaveLength(5);
			expect(sockets[3]?.closeCalls).toEqual([]);
			await connection.close();
		},
	);

	it('requests a new token if the service rejects the token of the new socket (4401)', async () => {
		const { fresh, socket, clock, connection } = await duringRotation();
		fresh.opens();
		fresh.ends(4401);
		await clock.advance(1_000);
		expect(socket().query.get('token')).toBe('secret-3');
		await connection.close();
	});

	it('if renewals keep failing, uses the old socket until the service closes it with its token', async () => {
		const { sockets, old, fresh, socket, clock, connection, endings } = await duringRotation();
		fresh.breaks();
		// Until 300 seconds, when the token ends.
		for (let second = 0; second < 29; second++) {
			await clock.advance(1_000);
			if (socket().readyState === 0) socket().breaks();
		}
		expect(old.closeCalls).toEqual([]);
		expect(sockets).toHaveLength(6);
		expect(await connection.ready()).toEqual({ kind: 'open' });
		old.ends(4401);
		await clock.advance(1_000);
		expect(sockets).toHaveLength(7);
		socket().opens();
		await clock.advance(500);
		expect(await connection.ready()).toEqual({ kind: 'open' });
		expect(endings).toEqual([]);
		await connection.close();
	});

	it('if renewals keep failing after the token has ended, closes the old socket, which may be dead, and reports it', async () => {
		const { old, fresh, socket, clock, endings } = await duringRotation();
		fresh.breaks();
		for (let second = 0; second < 180; second++) {
			await clock.advance(1_000);
			if (socket().readyState === 0) socket().breaks();
		}
		expect(old.closeCalls).toEqual([1000]);
		expect(endings.map(({ kind }) => kind)).toEqual(['unreachable']);
	});

	it("reports a message that waits for the new socket too long, and doesn't send it", async () => {
		const { sockets, socket, clock, connection, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		await clock.advance(181_000);
		const result = connection.sendWithAck(outgoing('{}'), 120_000);
		for (let second = 0; second < 124; second++) {
			await clock.advance(1_000);
			if (socket().readyState === 0) socket().breaks();
		}
		expect(await result).toMatchObject({
			kind: 'not_sent',
			readiness: {
				kind: 'ended',
				ending: { kind: 'renewal_failed', originalMessage: 'close code 1006', isTransient: true },
			},
		});
		expect(sockets.flatMap(({ sent }) => sent)).toEqual([]);
		await connection.close();
	});

	it('logs a failed renewal', async () => {
		const { fresh, logged, connection } = await duringRotation();
		fresh.opens();
		fresh.ends(1011, 'overloaded by secret-2');
		await settle();
		expect(logged).toEqual([
			[
				"The connection to a chat session couldn't be renewed yet",
				{
					sessionId: 's-1',
					waitMs: 1_000,
					originalMessage: 'close code 1011 · overloaded by [hidden]',
				},
			],
		]);
		await connection.close();
	});

	it('if the service closes both sockets, reconnects as usual', async () => {
		const { sockets, old, fresh, clock } = await duringRotation();
		fresh.opens();
		old.ends(1008);
		fresh.ends(1008);
		await clock.advance(999);
		expect(sockets).toHaveLength(2);
		await clock.advance(1);
		expect(sockets).toHaveLength(3);
	});

	it('sends no frame on a socket that may be closed', async () => {
		const { old, fresh, clock, connection } = await duringRotation();
		const result = connection.sendWithAck(outgoing('{}'), 60_000);
		fresh.opens();
		await clock.advance(499);
		expect([old.sent, fresh.sent]).toEqual([[], []]);
		await clock.advance(1);
		expect([old.sent, fresh.sent]).toEqual([[], ['{}']]);
		fresh.receives(messageSent);
		expect((await result).kind).toBe('ack');
	});

	it('sends nothing after the sender stopped waiting during a token request', async () => {
		let issueToken: () => void = () => undefined;
		const { connection, sockets, clock, connect } = chatConnectionHarness(
			{ rotateEveryMs: Infinity },
			async (n, time) => {
				if (n === 1) return await freshToken(n, time);
				await new Promise<void>((resolve) => {
					issueToken = resolve;
				});
				return { kind: 'unreachable', error: null };
			},
		);
		connection.start();
		await connect();
		await clock.advance(200_000);
		const stop = new AbortController();
		const result = connection.sendWithAck(outgoing('{}'), 120_000, stop.signal);
		await settle();
		stop.abort();
		expect((await result).kind).toBe('not_sent');
		issueToken();
		await clock.advance(5_000);
		expect(sockets.map(({ sent }) => sent)).toEqual([[]]);
	});

	it("doesn't assign an ack of the old socket to a frame on the new one", async () => {
		const { old, fresh, clock, connection } = await duringRotation();
		old.deaf = true;
		fresh.opens();
		await clock.advance(500);
		const result = connection.sendWithAck(outgoing('{}'), 60_000);
		await settle();
		old.receives(ackFrame({ state: 'default', reply: 'to an earlier frame' }));
		fresh.receives(messageSent);
		expect(await result).toMatchObject({ kind: 'ack', ack: { payload: { reply: 'hello' } } });
	});

	it('accepts an ack of the old socket that echoes the ID of a frame on the new one', async () => {
		const { old, fresh, clock, connection } = await duringRotation();
		old.deaf = true;
		fresh.opens();
		await clock.advance(500);
		const frame = outgoing('{}');
		const result = connection.sendWithAck(frame, 60_000);
		await settle();
		old.receives(ackFrame({ state: 'default', reply: 'own', message_id: frame.messageId }));
		expect(await result).toMatchObject({ kind: 'ack', ack: { payload: { reply: 'own' } } });
	});

	it("stays connected during a token request, and doesn't interrupt a frame", async () => {
		let issueToken: (token: MintResult) => void = () => undefined;
		const { connection, sockets, socket, clock, connect } = chatConnectionHarness(
			{ rotateEveryMs: 150_000 },
			async (n, time) =>
				n === 1
					? await freshToken(n, time)
					: await new Promise((resolve) => (issueToken = resolve)),
		);
		connection.start();
		await connect();
		await clock.advance(151_000);
		expect(connection.isConnected).toBe(true);
		const result = connection.sendWithAck(outgoing('{}'), 60_000);
		await settle();
		expect(socket().sent).toEqual(['{}']);
		issueToken(await freshToken(2, clock));
		await clock.advance(5_000);
		expect(sockets).toHaveLength(1);
		socket().receives(messageSent);
		expect((await result).kind).toBe('ack');
		await clock.advance(1_000);
		expect(sockets).toHaveLength(2);
		await connection.close();
	});

	it("isn't connected if the new socket has ended while the old one is slow to close", async () => {
		const { old, fresh, clock, connect, connection, socket } = await duringRotation();
		old.deaf = true;
		fresh.opens();
		await clock.advance(500);
		fresh.ends(1011);
		await settle();
		const isReady = jest.fn();
		void connection.ready().then(isReady);
		await settle();
		// Otherwise a frame would look for a socket in an endless loop that blocks n8n.
		expect(isReady).not.toHaveBeenCalled();
		const result = connection.sendWithAck(outgoing('{}'), 60_000);
		await clock.advance(3_500);
		await connect();
		expect(socket().sent).toEqual(['{}']);
		socket().receives(messageSent);
		expect((await result).kind).toBe('ack');
	});

	it("rotates even if the service doesn't respond to the close", async () => {
		const { old, fresh, clock, connection } = await duringRotation();
		old.deaf = true;
		fresh.opens();
		await clock.advance(500);
		expect(await connection.ready()).toEqual({ kind: 'open' });
		await clock.advance(2_000);
		expect(await connection.ready()).toEqual({ kind: 'open' });
	});

	it('closes every replaced socket, even if an older one is slow to close', async () => {
		const { connection, sockets, clock, connect } = chatConnectionHarness({
			rotateEveryMs: 1_000,
		});
		connection.start();
		await connect();
		const [first] = sockets;
		if (first === undefined) throw new Error('no socket was opened');
		first.deaf = true;
		await clock.advance(1_000);
		await connect();
		await clock.advance(1_000);
		expect(sockets).toHaveLength(3);
		await clock.advance(500);
		await connect();
		expect(sockets.map(({ closeCalls }) => closeCalls)).toEqual([[1000], [1000], []]);
		expect(await connection.ready()).toEqual({ kind: 'open' });
		await connection.close();
	});

	it('opens no second socket if the first one ended during a token request', async () => {
		let issueToken: () => void = () => undefined;
		const { connection, sockets, socket, clock, connect, mints } = chatConnectionHarness(
			{ rotateEveryMs: 10_000 },
			async (n, time) => {
				if (n === 2) {
					await new Promise<void>((resolve) => {
						issueToken = resolve;
					});
				}
				return await tokenFor(1)(n, time);
			},
		);
		connection.start();
		await connect();
		await clock.advance(10_000);
		expect(mints()).toBe(2);
		socket().breaks();
		await clock.advance(1_000);
		issueToken();
		await settle();
		expect(sockets).toHaveLength(2);
		await connection.close();
	});

	it('keeps the socket for another 30 seconds if no token is issued', async () => {
		const { sockets, connection, clock, connect } = chatConnectionHarness(
			{ rotateEveryMs: 290_000 },
			async (n, time) =>
				n >= 2 && n <= 4 ? { kind: 'unreachable', error: null } : await freshToken(n, time),
		);
		connection.start();
		await connect();
		await clock.advance(310_000);
		expect(sockets.map(({ closeCalls }) => closeCalls)).toEqual([[]]);
		expect(await connection.ready()).toEqual({ kind: 'open' });
		await clock.advance(11_000);
		expect(sockets).toHaveLength(2);
	});

	it('closes both sockets if it is closed during a rotation', async () => {
		const { old, fresh, clock, connection } = await duringRotation();
		fresh.opens();
		await connection.close();
		expect([old.closeCalls, fresh.closeCalls]).toEqual([[1000], [1000]]);
		await clock.advance(3_000);
		expect(clock.pending).toBe(0);
	});

	it('ends with the session during a rotation', async () => {
		const { old, fresh, clock, endings } = await duringRotation();
		fresh.opens();
		old.receives(eventFrame('session_closed', 'e1'));
		await clock.advance(2_000);
		expect(endings.map(({ kind }) => kind)).toEqual(['session_closed']);
		expect([old.readyState, fresh.readyState]).toEqual([3, 3]);
	});

	it("doesn't rotate while a frame waits for its ack", async () => {
		const { connection, sockets, socket, clock, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		await clock.advance(230_000);
		const result = connection.sendWithAck(outgoing('{}'), 60_000);
		await clock.advance(55_000);
		expect(sockets).toHaveLength(1);
		socket().receives(messageSent);
		expect((await result).kind).toBe('ack');
		await clock.advance(1_000);
		expect(sockets).toHaveLength(2);
	});

	/** A service that closes sockets when their token expires. */
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
		'rotates between consecutive messages that take %d ms each',
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

	describe('if no token is issued', () => {
		const withoutToken = async (
			seconds: number,
			kind: 'unreachable' | 'rejected' = 'unreachable',
		) => {
			const mint = { isDown: true };
			const use = chatConnectionHarness({}, async (n, clock) =>
				n > 1 && mint.isDown ? { kind, error: new Error('no') } : await freshToken(n, clock),
			);
			use.connection.start();
			await use.connect();
			await use.clock.advance(seconds * 1_000);
			const result = use.connection.sendWithAck(outgoing('{}'), 120_000);
			await settle();
			return { ...use, result, mint };
		};

		it('sends a message if the token outlasts its ack', async () => {
			const { socket, result } = await withoutToken(179);
			expect(socket().sent).toEqual(['{}']);
			socket().receives(messageSent);
			expect((await result).kind).toBe('ack');
		});

		it('otherwise, a message waits for the new socket, because a long turn could be interrupted', async () => {
			const { sockets, socket, clock, result, mint, mints, connect } = await withoutToken(200);
			await clock.advance(20_000);
			expect(sockets.flatMap(({ sent }) => sent)).toEqual([]);
			// After 1, 2, 4, and 8 seconds.
			expect(mints()).toBeGreaterThanOrEqual(5);
			mint.isDown = false;
			await clock.advance(16_000);
			expect(sockets).toHaveLength(2);
			await connect();
			expect(socket().sent).toEqual(['{}']);
			socket().receives(messageSent);
			expect((await result).kind).toBe('ack');
		});

		it.each(['unreachable', 'rejected'] as const)(
			"a message waits no longer than its timeout, and isn't sent (%s)",
			async (kind) => {
				const { sockets, clock, result, connection } = await withoutToken(181, kind);
				await clock.advance(122_000);
				expect(await result).toMatchObject({
					kind: 'not_sent',
					readiness: {
						kind: 'ended',
						ending: { kind: 'token_unavailable', originalMessage: 'no', isTransient: true },
					},
				});
				expect(sockets.flatMap(({ sent }) => sent)).toEqual([]);
				expect(await connection.ready()).toEqual({ kind: 'open' });
			},
		);

		it('reports a session that was closed in the meantime', async () => {
			const { clock, connection, connect, endings } = chatConnectionHarness({}, async (n, time) =>
				n > 1 ? { kind: 'session_closed', error: null } : await freshToken(n, time),
			);
			connection.start();
			await connect();
			await clock.advance(200_000);
			const result = connection.sendWithAck(outgoing('{}'), 120_000);
			await clock.advance(3_000);
			expect((await result).kind).toBe('not_sent');
			expect(endings.map(({ kind }) => kind)).toEqual(['session_closed']);
		});

		it('sends a waiting message if the socket outlives its token', async () => {
			const { sockets, socket, clock, result } = await withoutToken(275);
			await clock.advance(25_000);
			expect(socket().sent).toEqual([]);
			await clock.advance(10_000);
			expect(socket().sent).toEqual(['{}']);
			socket().receives(messageSent);
			expect((await result).kind).toBe('ack');
			expect(sockets).toHaveLength(1);
		});

		it("doesn't send a waiting message if the socket ends with its token", async () => {
			const { sockets, socket, clock, result } = await withoutToken(275);
			await clock.advance(25_000);
			socket().ends(4401);
			await clock.advance(300_000);
			expect((await result).kind).toBe('not_sent');
			expect(sockets.flatMap(({ sent }) => sent)).toEqual([]);
		});
	});

	it.each([
		['backward', -6 * 3_600_000],
		['forward', 6 * 3_600_000],
	])('keeps its schedule if the system clock is set %s', async (_name, ms) => {
		const { connection, sockets, socket, clock, mints, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		await clock.advance(60_000);
		clock.set(clock.now() + ms);
		await clock.advance(190_000);
		expect([sockets.length, mints()]).toEqual([1, 1]);
		await clock.advance(20_000);
		await connect();
		expect([sockets.length, mints()]).toEqual([2, 2]);
		socket().ends(1011);
		await clock.advance(1_000);
		await connect();
		expect(await connection.ready()).toEqual({ kind: 'open' });
		expect(sockets).toHaveLength(3);
		await connection.close();
	});

	it('counts failed attempts from zero after a long connection, also if the last renewal was just before', async () => {
		const { connection, sockets, socket, clock, connect } = chatConnectionHarness();
		connection.start();
		await settle();
		for (const seconds of [1, 2, 4, 8]) {
			socket().breaks();
			await clock.advance(seconds * 1_000);
		}
		await connect();
		await clock.advance(270_000);
		await connect();
		expect(sockets).toHaveLength(6);
		socket().breaks();
		await clock.advance(1_000);
		expect(sockets).toHaveLength(7);
	});

	it("doesn't take the session back with claim=1 if another client took it during a renewal", async () => {
		const { old, fresh, clock, sockets } = await duringRotation({ disconnectOther: true });
		old.ends(4001);
		fresh.ends(4001);
		await clock.advance(1_000);
		expect(sockets.map(({ query }) => query.get('claim'))).toEqual(['1', null, null]);
	});

	it('stays connected while the new socket opens, because the old one still gets the events', async () => {
		const { connection, clock } = await duringRotation();
		await clock.advance(10_000);
		expect(connection.isConnected).toBe(true);
		let readiness: unknown = null;
		void connection.ready().then((ready) => {
			readiness = ready;
		});
		await settle();
		expect(readiness).toEqual({ kind: 'open' });
		await connection.close();
	});

	it('counts failed attempts after a rotation as usual', async () => {
		const { connection, sockets, socket, clock, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		await clock.advance(270_000);
		await connect();
		expect(sockets).toHaveLength(2);
		socket().breaks();
		await clock.advance(999);
		expect(sockets).toHaveLength(2);
		await clock.advance(1);
		expect(sockets).toHaveLength(3);
		await settle();
	});
});
