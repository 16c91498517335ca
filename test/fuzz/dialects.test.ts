/** Each contract case that depends on the dialect, with a random one of its own, so that forms of open details meet in many combinations. */
import range from 'lodash/range';
import { contractCases } from '../contract/cases';
import { dependsOnDialect } from '../contract/contractCase';
import { checkCase, contractHarness } from '../contract/contractHarness';
import { engineHarness } from '../engine';
import { nextDialect, REPEATS } from './runs';

engineHarness();

const cases = Object.entries(contractCases).flatMap(([node, ofNode]) =>
	ofNode
		.filter(dependsOnDialect)
		.flatMap((contract) => range(REPEATS).map(() => ({ node, contract, dialect: nextDialect() }))),
);

describe.each(cases)('dialect $dialect.name', ({ node, contract, dialect }) => {
	const harness = contractHarness(dialect);

	test(`${node} ${contract.title}`, async () => {
		await checkCase(harness, node, contract);
	});
});
