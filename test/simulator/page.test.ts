import { dialects, fixtures, startSimulator, type Simulator } from '.';
import { until } from '../n8n/until';
import type { Snapshot } from './page/snapshot';
import { call } from './testing/api';

const place = { agent_uuid: fixtures.agents.full, phone_number: '9876543210', country_code: 'IN' };
const html = { headers: { accept: 'text/html,application/xhtml+xml' } };

describe('the page of the simulated service', () => {
	let sim: Simulator;
	beforeAll(async () => {
		sim = await startSimulator({ dialect: dialects.plain, keepResponses: true });
	});
	beforeEach(() => sim.reset());
	afterAll(async () => await sim.stop());

	const command = async (name: string, body: object = {}) =>
		await call(sim, 'POST', `/__simulator/${name}`, body, null);

	/** Follows the events of the page until its newest snapshot is as expected. */
	async function shows(
		what: string,
		isExpected: (snapshot: Snapshot) => boolean,
	): Promise<Snapshot> {
		const aborting = new AbortController();
		const { body } = await fetch(`${sim.baseUrl}/__simulator/events`, { signal: aborting.signal });
		let text = '';
		let found: Snapshot | undefined;
		const following = (async () => {
			for await (const chunk of body ?? []) {
				text += Buffer.from(chunk).toString();
				const events = text.split('\n\n');
				text = events.pop() ?? '';
				const snapshot: Snapshot = JSON.parse((events.at(-1) ?? 'data: {"calls":[]}').slice(6));
				if (events.length > 0 && isExpected(snapshot)) found = snapshot;
				if (found !== undefined) return;
			}
		})();
		await until(what, async () => await Promise.resolve(found !== undefined));
		await following;
		aborting.abort();
		if (found === undefined) throw new Error(`the page does not show ${what}`);
		return found;
	}

	it("is shown to a browser only, and isn't recorded", async () => {
		const page = await fetch(sim.baseUrl, html);
		expect([page.status, page.headers.get('content-type')]).toEqual([
			200,
			'text/html; charset=utf-8',
		]);
		expect(await page.text()).toContain('Simulated Voice and Chat Agent Service');
		for (const file of ['page.css', 'page.js']) {
			expect((await fetch(`${sim.baseUrl}/__simulator/${file}`)).status).toBe(200);
		}
		expect(sim.requests).toEqual([]);
		expect((await call(sim, 'GET', '/', undefined, null)).status).toBe(401);
	});

	it('shows contacts of a campaign, and what became of each', async () => {
		const { agents, campaigns } = fixtures;
		const push = {
			agent_uuid: agents.full,
			contacts: [{ phone: '9812345671', person_name: 'Meera' }],
		};
		await call(sim, 'POST', `/v1/campaigns/${campaigns.active}/contacts`, {
			...push,
			enqueue: true,
		});
		const phase = ({ campaigns: shown }: Snapshot) => shown[0]?.contacts[0]?.phase;
		await shows('a released contact', (snapshot) => phase(snapshot) === 'In the calling queue');
		sim.setAutoDial({ everyMs: 10, lastsMs: 20 });
		const called = await shows('a called contact', (snapshot) => phase(snapshot) === 'Called');
		expect(called.campaigns).toMatchObject([
			{
				id: campaigns.active,
				contactCount: 1,
				contacts: [{ phone: '+919812345671', name: 'Meera' }],
			},
		]);
	});

	describe('its switches', () => {
		const flip = async (name: string) => await command('switch', { name });

		it.each(['toString', '__proto__', ''])('rejects the unknown switch %j', async (name) => {
			const response = await flip(name);
			expect(response.status).toBe(400);
			expect(response.body).toMatchObject({
				message: expect.stringContaining('switch must be one of notPicked, busy'),
			});
		});

		it.each([
			['notPicked', 'not_picked', 'Next call: Nobody picked up the call'],
			['busy', 'failed', 'Next call: The line was busy'],
		])('%s: decides the next call only', async (name, status, pending) => {
			await flip(name);
			await shows('the switch', ({ switches }) => switches.pending.includes(pending));
			sim.setAutoComplete({ afterMs: 'beforeResponse' });
			await call(sim, 'POST', '/v1/call', place);
			await call(sim, 'POST', '/v1/call', place);
			expect(sim.placedCalls().map(({ outcome }) => outcome.status)).toEqual([status, 'picked']);
		});

		it('cut: the next write takes effect, and its connection is cut', async () => {
			await flip('cut');
			await expect(call(sim, 'POST', '/v1/call', place)).rejects.toThrow('fetch failed');
			expect(sim.placedCalls()).toHaveLength(1);
			await call(sim, 'POST', '/v1/call', place);
			const { requests } = await shows('both requests', ({ requests: all }) => all.length === 2);
			expect(requests).toMatchObject([
				{ number: 2, status: 200, fault: null },
				{ number: 1, status: null, fault: 'connection cut after it took effect' },
			]);
		});
	});
});
