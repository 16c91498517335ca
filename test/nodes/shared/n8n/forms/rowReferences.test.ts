import { mayNameRow } from '../../../../../nodes/shared/n8n/forms/rowReferences';

test.each([
	'',
	'42',
	'=42',
	'={{ 40 + 2 }}',
	'={{ $vars.campaign }}',
	'={{$workflow.name}}',
	"={{ $('Settings').first().json.campaign }}",
	'={{ $("Settings").last().json["campaign id"].toString() }}',
	'={{ $input.first().json.ids[0] }}',
	'={{ $("A").first()?.json?.campaign }}',
	'=4{{ 2 }}{{ $vars.end }}',
	'={{ { at: $now.toISO(), by: $workflow.name } }}',
	'={{ `${$today.toFormat("yyyy-MM-dd")}-${$execution.id}` }}',
	'={{ $vars.a + $env.B + $runIndex + Math.random() }}',
	'={{ { "price": "$5" } }}',
	'={{ $input.all().map((one) => one.json) }}',
	"={{ $('Rows').all().length }}",
	'={{ $("Settings").first($runIndex).json.id }}',
	'={{ $fromAI("id") }}',
	'={{ $if($vars.a, 1, 2) }}',
])('%s does not refer to an item', (expression) => {
	expect(mayNameRow(expression)).toBe(false);
});

test.each([
	'={{ $json.campaign }}',
	'={{ $itemIndex }}',
	'={{ $input.item.json.id }}',
	'={{ $("Settings").item.json.id }}',
	'={{ $("Settings").pairedItem().json.id }}',
	'={{ $("Settings").all()[$itemIndex].json.id }}',
	'={{ $("a\\").first() + $json.x + (\\"").first() }}',
	'={{ $("Settings").first().json[$json.name] }}',
	'={{ $vars[$json.name] }}',
	'={{ $if($json.a, 1, 2) }}',
	'={{ $("Settings").first($itemIndex).json.id }}',
	'={{ $vars.campaign || $json.campaign }}',
	'={{ $parameter.phoneColumn }}',
	'={{ this.$json.id }}',
	'={{ ({ a: $json }).a }}',
	'={{ "a\\" + $json.x + \\"" }}',
	'={{ $vars.a }} {{ $json.b }}',
	'={{ { at: $now.toISO(), by: $json.name } }}',
	'={{ `${$json.a}` }}',
	'={{ $ ("Start").item.json.id }}',
	'={{ $thisItem.json.id }}',
	'={{ $nowhere }}',
	'={{ this["$" + "json"] }}',
	'={{ `a${this["$" + "json"].id}` }}',
	'={{ \\u0024json.id }}',
])('%s may refer to an item', (expression) => {
	expect(mayNameRow(expression)).toBe(true);
});
