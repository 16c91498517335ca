import { MAPPING_TOPICS } from '../../nodes/core/profile/topics';
import type { apiMappingOf } from './credentialFor';

/** The JSON for *Settings From Your Provider* with the same values as these fields of the credential. */
export function providerSettingsOf(fields: ReturnType<typeof apiMappingOf>) {
	const values = new Map(Object.entries(fields));
	return Object.fromEntries(
		MAPPING_TOPICS.map((topic) => [
			topic.name,
			Object.fromEntries(Object.keys(topic.fields).map((name) => [name, values.get(name) || null])),
		]),
	);
}
