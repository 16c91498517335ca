import { readFileSync } from 'node:fs';
import { contractTypes, TYPES_FILE } from '../../scripts/contractTypes';

test('the types of requests are those of docs/openapi.yaml (npm run contract:types)', async () => {
	expect(readFileSync(TYPES_FILE, 'utf8')).toBe(await contractTypes());
});
