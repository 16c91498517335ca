import { isRowIndependent, mayNameRow } from '../../../nodes/PushCampaignContacts/sameForAllRows';

test.each([
	'',
	'42',
	'=42',
	'={{ 42 }}',
	'={{ "42" }}',
	'={{ $vars.campaign }}',
	'={{ $env.CAMPAIGN }}',
	'={{$workflow.name}}',
	'={{ $execution.id }}',
	"={{ $('Settings').first().json.campaign }}",
	'={{ $("Settings").last().json["campaign id"].toString() }}',
	'={{ $input.first().json.ids[0] }}',
	'={{ $("A").first()?.json?.campaign }}',
	'=4{{ 2 }}{{ $vars.end }}',
])('%s is the same for every item', (expression) => {
	expect(isRowIndependent(expression)).toBe(true);
});

test.each([
	'={{ $json.campaign }}',
	'={{ $itemIndex }}',
	'={{ $input.item.json.id }}',
	'={{ $("Settings").item.json.id }}',
	'={{ $("Settings").pairedItem().json.id }}',
	'={{ $("Settings").first($runIndex).json.id }}',
	'={{ $("Settings").all()[$itemIndex].json.id }}',
	'={{ $vars[$json.name] }}',
	'={{ $vars.campaign || $json.campaign }}',
	'={{ $parameter.phoneColumn }}',
	'={{ this.$json.id }}',
	'={{ 40 + 2 }}',
	'={{ ({ a: $json }).a }}',
	'={{ "a\\" + $json.x + \\"" }}',
	'={{ $vars.a }} {{ $json.b }}',
	'={{ $vars.a',
])('%s may differ between items', (expression) => {
	expect(isRowIndependent(expression)).toBe(false);
});

test.each([
	'',
	'={{ 40 + 2 }}',
	'={{ { at: $now.toISO(), by: $workflow.name } }}',
	'={{ `${$today.toFormat("yyyy-MM-dd")}-${$execution.id}` }}',
	'={{ $vars.a + $env.B + $runIndex + Math.random() }}',
	'={{ { "price": "$5" } }}',
])('%s does not refer to an item', (expression) => {
	expect(mayNameRow(expression)).toBe(false);
});

test.each([
	'={{ $json.campaign }}',
	'={{ { at: $now.toISO(), by: $json.name } }}',
	'={{ `${$json.a}` }}',
	'={{ $vars[$itemIndex] }}',
	'={{ $ ("Start").item.json.id }}',
	'={{ $thisItem.json.id }}',
	'={{ $nowhere }}',
	'={{ this["$" + "json"] }}',
	'={{ \\u0024json.id }}',
	'={{ $fromAI("id") }}',
])('%s may refer to an item', (expression) => {
	expect(mayNameRow(expression)).toBe(true);
});
