/** Each contract case that depends on the dialect, with a random one, so that forms of open details meet in many combinations. */
import chunk from 'lodash/chunk';
import range from 'lodash/range';
import { contractCases } from '../contract/cases';
import { dependsOnDialect } from '../contract/contractCase';
import { checkCase, contractHarness } from '../contract/contractHarness';
import { engineHarness } from '../engine';
import { nextDialect, REPEATS } from './runs';

engineHarness();

/** A dialect has its own simulator. */
const CASES_PER_DIALECT = 4;

const cases = Object.entries(contractCases).flatMap(([node, ofNode]) =>
	ofNode
		.filter(dependsOnDialect)
		.flatMap((contract) => range(REPEATS).map(() => ({ node, contract, title: contract.title }))),
);

describe.each(chunk(cases, CASES_PER_DIALECT).map((some) => ({ some, dialect: nextDialect() })))(
	'dialect $dialect.name',
	({ some, dialect }) => {
		const harness = contractHarness(dialect);

		test.each(some)('$node $title', async ({ node, contract }) => {
			await checkCase(harness, node, contract);
		});
	},
);
