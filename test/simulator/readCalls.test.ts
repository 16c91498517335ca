import mapValues from 'lodash/mapValues';
import { dialects, fixtures, startSimulator, type Simulator } from '.';
import { call, type Got } from './testing/api';

const { calls } = fixtures;

describe.each(Object.values(dialects))('reading calls, dialect $name', (dialect) => {
	let sim: Simulator;
	beforeAll(async () => {
		sim = await startSimulator({ dialect });
	});
	beforeEach(() => sim.reset());
	afterAll(async () => await sim.stop());

	const get = async (path: string) => await call(sim, 'GET', path);
	const idsIn = ({ body }: Got) =>
		[...JSON.stringify(body).matchAll(/(?:"call_id":"([^"]+)"|"([0-9a-f-]{36})":\{)/g)].map(
			([, value, key]) => value ?? key,
		);
	const list = async (query: Record<string, string | number>) => {
		const strings = mapValues(query, String);
		return await get(`/v1/calls?${new URLSearchParams(strings).toString()}`);
	};

	it('moves the status of a call in flight on with each reading', async () => {
		const seen = [];
		for (let i = 0; i < 4; i++) {
			const { data } = await get(`/v1/call/${calls.inFlight}`);
			seen.push('status' in data ? data.status : 'absent');
		}
		const last = dialect.calls.inFlight.at(-1) ?? 'absent';
		expect(seen[3]).toBe(last);
		expect(seen[0]).toBe(dialect.calls.inFlight[0] ?? 'absent');
		expect('summary' in (await get(`/v1/call/${calls.inFlight}`)).data).toBe(
			dialect.calls.missing === 'null',
		);
	});

	it('serves a recording from another place, without the token, for 900 seconds', async () => {
		const { data } = await get(`/v1/call/${calls.finished}/recording`);
		const url = String(data.recording_url);
		expect(new URL(url).pathname).not.toContain('/v1/');
		const file = await fetch(url);
		expect(file.headers.get('content-type')).toBe(dialect.calls.recordingHeaders['content-type']);
		expect(Buffer.from(await file.arrayBuffer()).toString('latin1', 0, 4)).toBe('RIFF');
		expect((await fetch(url, { headers: { 'API-Token': sim.token } })).status).toBe(400);
		expect((await fetch(url.replace('Signature=', 'Signature=x'))).status).toBe(403);
		sim.clock.advance(900_001);
		expect((await fetch(url)).status).toBe(403);
	});

	it('filters under its own names, newest first', async () => {
		const { filters } = dialect.calls;
		const all = { [dialect.calls.paging.size]: 25 };
		const failed = idsIn(await list({ ...all, [filters.status]: 'failed' }));
		expect(failed).toHaveLength(7);
		expect(failed).toEqual([...failed].sort().reverse());
		expect(idsIn(await list({ ...all, [filters.agent]: fixtures.agents.us }))).toEqual([
			calls.unusual,
		]);
		expect(idsIn(await list({ [filters.phone]: '9876500003' }))).toEqual([calls.notPicked]);
		expect(idsIn(await list({ [filters.campaign]: 999 }))).toEqual([]);
		const upload = idsIn(await list({ ...all, campaign_upload_id: fixtures.uploads.running }));
		expect(upload).toHaveLength(17);
		const since = new Date(Date.now() - 11.5 * 3_600_000).toISOString();
		expect(idsIn(await list({ ...all, [filters.from]: since }))).toHaveLength(3);
		const until = idsIn(await list({ ...all, [filters.to]: since }));
		expect(until).not.toContain(calls.inFlight);
		expect((await list({ [filters.from]: 'soon' })).status).toBe(dialect.validation.status);
	});
});
