// Which managed memory moves between host and device.
#include <cstring>

#include "device/fake_device.hpp"
#include "device/fresh_memory.hpp"
#include "judge/catch.hpp"
#include "server/migrations.hpp"

using namespace warpgrade::device;

namespace {

constexpr std::uint64_t page = Migrations::page_bytes;

// Two pages and a bit of managed memory, which nobody has used.
struct Managed {
    testing::FakeDevice device;
    DevicePtr address = device.allocate(2 * page + 100, {"cudaMallocManaged"});
    Migrations migrations{device};
    Managed() {
        device.fill(address, fresh_byte, 2 * page + 100);
        migrations.add(address, 2 * page + 100);
    }
    void host_writes(std::uint64_t offset) {
        const std::byte byte{++value};
        device.write(address + offset, {&byte, 1});
    }
    void device_uses(std::uint64_t offset, std::uint64_t bytes, MemoryUse use = MemoryUse::read) {
        migrations.look();
        if (use == MemoryUse::write) host_writes(offset);  // its bytes change between look() and used()
        const MemoryAccess access{address + offset, bytes, use};
        migrations.used({&access, 1});
    }
    unsigned char value = 0;
};

nlohmann::json moved(std::uint64_t pages, std::uint64_t bytes) { return {{"pages", pages}, {"bytes", bytes}}; }

}  // namespace

TEST_CASE_METHOD(Managed, "pages that the host has written move to the device, once") {
    host_writes(0), host_writes(2 * page);
    device_uses(0, 2 * page + 100);
    CHECK(migrations.take() == nlohmann::json{{"to_device", moved(2, page + 100)}});
    device_uses(0, 2 * page + 100, MemoryUse::write);
    device_uses(0, 2 * page + 100);
    CHECK(migrations.take().empty());
}

TEST_CASE_METHOD(Managed, "pages that the host writes again go there and back") {
    device_uses(0, 1), device_uses(page, 1);
    host_writes(page + 7);
    device_uses(0, 1);
    CHECK(migrations.take() == nlohmann::json{{"to_host", moved(1, page)}});
    device_uses(2 * page - 1, 2);
    CHECK(migrations.take() == nlohmann::json{{"to_device", moved(1, page)}});
}

TEST_CASE_METHOD(Managed, "prefetches are counted as such, and only what moves") {
    host_writes(0);
    migrations.prefetch(address, 2 * page, true);
    device_uses(0, 2 * page);
    CHECK(migrations.take() == nlohmann::json{{"prefetched_to_device", moved(1, page)}});
    migrations.prefetch(address, 2 * page + 100, false);
    CHECK(migrations.take() == nlohmann::json{{"prefetched_to_host", moved(2, 2 * page)}});
    device_uses(0, 1);
    CHECK(migrations.take() == nlohmann::json{{"to_device", moved(1, page)}});
}

TEST_CASE_METHOD(Managed, "addresses that are not managed count nothing") {
    migrations.prefetch(address + 2 * page + 100, 1, true);
    migrations.prefetch(address, ~std::uint64_t{0}, true);
    const MemoryAccess outside{1, 100, MemoryUse::write};
    migrations.used({&outside, 1});
    migrations.remove(address);
    host_writes(0);
    device_uses(0, 1);
    CHECK(migrations.take().empty());
}
