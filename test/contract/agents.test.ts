import { fixtures } from '../simulator';
import { describeContract } from './contractRing';
import { neverSeen, schemaMismatches } from './schema';

const { agents } = fixtures;
const ACTIVE = [agents.full, agents.us, agents.noNumber, agents.noAnalysis];

describeContract((ring) => {
	test('Get Many Active: one item an agent, wherever the answer holds them', async () => {
		const found = await ring.records('agents', { operation: 'getMany' });
		expect(found.map(({ agent_uuid }) => agent_uuid)).toEqual(ACTIVE);
		expect(found.map(({ agent_name }) => agent_name)).toContain('Sales India');
		expect(schemaMismatches('Agents', 'getMany', found[0])).toEqual([]);
		expect(neverSeen('Agents', 'getMany', found)).toEqual([]);
	});

	test('Get Many Active: the whole answer', async () => {
		const answers = await ring.records('agents', { operation: 'getMany', simplify: false });
		expect(answers).toHaveLength(1);
		for (const agent of ACTIVE) expect(JSON.stringify(answers)).toContain(agent);
	});

	test('Check: active, retired, of another account; the list is read once', async () => {
		const parameters = {
			operation: 'check',
			agentUuid: { __rl: true, mode: 'id', value: '={{ $json.id }}' },
		};
		const items = [agents.full, agents.inactive, agents.foreign].map((id) => ({ id }));
		const before = ring.simulator().requests.length;
		const found = await ring.records('agents', parameters, items);
		expect(ring.simulator().requests.length - before).toBe(1);
		expect(found).toMatchObject([
			{ agent_uuid: agents.full, agent_name: 'Sales India', active: true },
			{ agent_uuid: agents.inactive, active: false },
			{ agent_uuid: agents.foreign, active: false },
		]);
		expect(schemaMismatches('Agents', 'check', found[0])).toEqual([]);
		expect(neverSeen('Agents', 'check', found)).toEqual([]);
	});
});
